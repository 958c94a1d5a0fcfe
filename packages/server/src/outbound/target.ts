import { remembered } from "../domain/remembered.ts";

export type Target =
  | {
      readonly valid: true;
      readonly origin: string;
      /** Without the brackets of an IPv6 address, as the guard is asked. */
      readonly hostname: string;
      readonly port: number;
      readonly path: string;
    }
  | { readonly valid: false; readonly message: string };

/**
 * Parses a URL once, by the WHATWG rules, which decide the connected address: `2130706433` and `0x7f.1` reach the guard
 * as 127.0.0.1.
 */
export const parseTarget = remembered((url): Target => {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return { valid: false, message: "The URL is not valid" };
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    return { valid: false, message: "The URL is neither http nor https" };
  }
  if (parsed.username !== "" || parsed.password !== "") {
    return { valid: false, message: "The URL holds a user name or password" };
  }
  const { origin, hostname, protocol, port } = parsed;
  return {
    valid: true,
    origin,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: readPort(port, protocol),
    path: parsed.pathname + parsed.search,
  };
});

/** A parsed URL leaves its scheme's own port out. */
export function readPort(port: string, protocol: string): number {
  if (port !== "") return Number(port);
  return protocol === "https:" ? 443 : 80;
}
