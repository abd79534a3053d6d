//! Detects addresses of this machine, to which a remote server must not redirect (SSRF).
//!
//! A name proves nothing, because any name can resolve to `127.0.0.1`. So the addresses from the
//! lookup are checked, and only checked addresses are connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Tells whether an address is on this machine or its local link, in any notation.
///
/// Following such a redirect would give a remote server access to services that only we can reach.
pub(super) fn is_local(address: IpAddr) -> bool {
    let address = match address {
        IpAddr::V6(address) => embedded_ipv4(address).map_or(IpAddr::V6(address), IpAddr::V4),
        address @ IpAddr::V4(_) => address,
    };
    let is_near = match address {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_link_local()
                || address.is_broadcast()
                || address.is_multicast()
                // The whole network 0.0.0.0/8 means "this host".
                || address.octets()[0] == 0
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unicast_link_local()
                || address.is_multicast()
        }
    };
    is_near || is_interface_address(address)
}

/// Tells whether an address is in a network that is not the internet: private, unique local, or
/// shared by the customers of a provider.
pub(super) fn is_private(address: IpAddr) -> bool {
    let address = match address {
        IpAddr::V6(address) => embedded_ipv4(address).map_or(IpAddr::V6(address), IpAddr::V4),
        address @ IpAddr::V4(_) => address,
    };
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private() || (first == 100 && second & 0b1100_0000 == 64)
        }
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

/// Tells whether an address belongs to an interface of this machine: only such addresses can be
/// bound.
fn is_interface_address(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// Returns the IPv4 address inside an IPv6 address: mapped, compatible, NAT64 and 6to4.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let of = |at: usize| {
        let bytes = [segments[at].to_be_bytes(), segments[at + 1].to_be_bytes()].concat();
        <[u8; 4]>::try_from(bytes).ok().map(Ipv4Addr::from)
    };
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, ..]
        | [0x64, 0xff9b, 0, 0, 0, 0, ..]
        | [0, 0, 0, 0, 0xffff, 0, ..] => of(6),
        [0x2002, ..] => of(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_are_recognized_in_every_notation() {
        for address in [
            "127.0.0.1",
            "127.8.9.1",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "255.255.255.255",
            "224.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:0.0.0.0",
            "::ffff:169.254.1.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(is_local(address.parse().unwrap()), "{address}");
        }
        for address in ["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", "64:ff9b::c000:207"] {
            assert!(!is_local(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn private_networks_are_recognized_in_every_notation() {
        for address in
            ["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"]
        {
            assert!(is_private(address.parse().unwrap()), "{address}");
        }
        for address in ["192.0.2.7", "172.32.0.1", "100.128.0.1", "2001:db8::1"] {
            assert!(!is_private(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn the_address_of_an_interface_is_local() {
        // Without a network there is no address to test.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect("192.0.2.7:9").is_ok() {
            let own = socket.local_addr().unwrap().ip();
            assert!(is_local(own), "{own}");
        }
    }
}
