import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Azure's WireServer: a public address by its number, but inside Azure it is the machine's own host, which hands out
 * the machine's settings and certificates.
 */
const WIRE_SERVER = "168.63.129.16";

/** All that IANA gives out as global unicast. ipaddr.js calls the rest unicast too, ::127.0.0.1 among it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** On a network without IPv4 every IPv4 host has such an address (RFC 6052). */
const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Reads one IP address, strictly: ipaddr.js by itself takes 10 for 0.0.0.10. An IPv4 address in IPv6 clothes
 * (::ffff:10.0.0.1) is that IPv4 address, since the system connects to it. Null for anything else, zone ids included:
 * they only exist on link-local addresses.
 */
export function parseIpAddress(text: string): IpAddress | null {
  switch (isIP(text)) {
    case 4:
      return ipaddr.IPv4.parse(text);
    case 6: {
      if (text.includes("%")) return null;
      // Spelled without dots first: ipaddr.js takes ::10.0.0.1 for ::ffff:10.0.0.1, the system does not.
      const plain = new URL(`http://[${text}]`).hostname.slice(1, -1);
      const parsed = ipaddr.IPv6.parse(plain);
      return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
    }
    default:
      return null;
  }
}

/**
 * Whether the address is one of the public internet's. What is not known to be public is not: tunnels that end at an
 * IPv4 address of the sender's choice (6to4, Teredo, ISATAP) are refused, NAT64 is judged by the address inside.
 */
export function isPublicAddress(address: IpAddress): boolean {
  if (address instanceof ipaddr.IPv4)
    return address.range() === "unicast" && address.toString() !== WIRE_SERVER;
  if (address.match(NAT64)) return isPublicAddress(new ipaddr.IPv4(address.toByteArray().slice(-4)));
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast" && !isIsatap(address);
}

/** RFC 5214: the interface part is 0:5efe or 200:5efe, then an IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
}

/** Whether both are of one family and the first lies in the second's block. */
export function isInBlock(address: IpAddress, block: IpAddress, prefixLength: number): boolean {
  return address.kind() === block.kind() && address.match(block, prefixLength);
}
