/** The source that a limit counts. An IPv6 user has a whole /64; an IPv4 address may be IPv4-mapped IPv6. */
export function sourceOf(text: string): string {
  const address = withoutPort(text);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill("0"), ...right];
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group || "0", 16).toString(16));
  return `${network.join(":")}::/64`;
}

/** Some proxies write the port too, as `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const parts = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text) ?? /^\[([^\]]+)\](?::\d+)?$/.exec(text);
  return parts?.[1] ?? text;
}
