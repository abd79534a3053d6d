//! Tells whether another user of this machine made a connection.
//!
//! The address of the page, with the state of the sign-in, can be seen in the list of processes
//! while the browser starts; so another user could bring an answer of their own. Linux says whose
//! a local connection is; elsewhere, and where it is not known, this rule is not enforced.

use tokio::net::TcpStream;

/// Tells whether the other end of a connection is of another user. Root may forward connections.
#[cfg(target_os = "linux")]
pub(super) fn is_other_user(stream: &TcpStream) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let (Ok(own), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else { return false };
    let table = if own.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let (Ok(table), Ok(process)) = (std::fs::read(table), std::fs::metadata("/proc/self")) else {
        return false;
    };
    let user = user_of(&String::from_utf8_lossy(&table), peer, own);
    user.is_some_and(|user| user != 0 && user != process.uid())
}

/// Other systems do not say whose a connection is.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_other_user(_: &TcpStream) -> bool {
    false
}

/// Finds the user of the socket with these addresses in the table of the system.
#[cfg(target_os = "linux")]
fn user_of(table: &str, local: std::net::SocketAddr, remote: std::net::SocketAddr) -> Option<u32> {
    let (local, remote) = (written(local), written(remote));
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_it = fields.next() == Some(&local) && fields.next() == Some(&remote);
        // Then come the state, the queues, the timer and the repeats.
        is_it.then(|| fields.nth(4)?.parse().ok()).flatten()
    })
}

/// Writes an address as the table has it: words of 32 bits in the order of this machine.
#[cfg(target_os = "linux")]
fn written(address: std::net::SocketAddr) -> String {
    use std::fmt::Write as _;

    let octets = match address.ip() {
        std::net::IpAddr::V4(ip) => ip.octets().to_vec(),
        std::net::IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let mut text = String::new();
    for word in octets.chunks_exact(4) {
        let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
        // Writing to a text cannot fail.
        let _ = write!(text, "{word:08X}");
    }
    let _ = write!(text, ":{:04X}", address.port());
    text
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[tokio::test]
    async fn the_user_of_a_connection_is_found_in_the_table_of_the_system() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = tokio::net::TcpListener::bind(address).await else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            let name = if address.starts_with('[') { "tcp6" } else { "tcp" };
            let table = std::fs::read_to_string(format!("/proc/net/{name}")).unwrap();
            let (local, remote) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
            let own = std::fs::metadata("/proc/self").unwrap().uid();
            assert_eq!(user_of(&table, local, remote), Some(own), "{address}");
            assert!(!is_other_user(&server));
        }
    }

    #[test]
    fn only_the_row_with_both_addresses_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n\
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n\
            1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2\n";
        let address = |port| std::net::SocketAddr::from(([127, 0, 0, 1], port));
        if cfg!(target_endian = "little") {
            assert_eq!(user_of(table, address(50000), address(8080)), Some(1001));
            assert_eq!(user_of(table, address(8080), address(50000)), None);
        }
    }
}
