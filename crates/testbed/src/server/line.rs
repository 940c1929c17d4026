//! The listening socket and its connections, which can be told to break off with a reset.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// A loopback listener that numbers its connections.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) listener: TcpListener,
    pub(crate) connections: Arc<AtomicU64>,
}

impl Listener for Wire {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    // Without this, small answers wait for the client's delayed acknowledgement.
                    let _ = stream.set_nodelay(true);
                    let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
                    let handle = LineHandle {
                        number,
                        reset: Arc::default(),
                    };
                    return (Line { stream, handle }, address);
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// What a handler knows of the connection its request came on.
#[derive(Debug, Clone)]
pub(crate) struct LineHandle {
    pub(crate) number: u64,
    reset: Arc<AtomicBool>,
}

impl LineHandle {
    /// From now on nothing more is sent: the next write resets the connection.
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
    }
}

impl Connected<IncomingStream<'_, Wire>> for LineHandle {
    fn connect_info(stream: IncomingStream<'_, Wire>) -> Self {
        stream.io().handle.clone()
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Line {
    stream: TcpStream,
    handle: LineHandle,
}

impl Line {
    fn broken(&self) -> Option<io::Error> {
        if !self.handle.reset.load(Ordering::Relaxed) {
            return None;
        }
        // A linger of zero turns the close that follows into a reset.
        let _ = self.stream.set_zero_linger();
        Some(io::ErrorKind::ConnectionReset.into())
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.broken() {
            Some(error) => Poll::Ready(Err(error)),
            None => Pin::new(&mut self.stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.broken() {
            Some(error) => Poll::Ready(Err(error)),
            None => Pin::new(&mut self.stream).poll_shutdown(cx),
        }
    }
}
