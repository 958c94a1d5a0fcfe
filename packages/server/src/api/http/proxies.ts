import { BlockList, isIP, isIPv6 } from "node:net";

/** Whether a peer is one of these addresses and blocks. */
export function createProxyCheck(trusted: readonly string[]): (address: string) => boolean {
  if (trusted.length === 0) return () => false;
  const list = new BlockList();
  for (const entry of trusted) {
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
