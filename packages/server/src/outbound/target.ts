export type Target =
  | { readonly valid: true; readonly origin: string; readonly path: string }
  | { readonly valid: false; readonly message: string };

/**
 * Reads a URL once, by the WHATWG rules: what is connected to is what they yield, so `2130706433` and `0x7f.1`
 * reach the guard as 127.0.0.1.
 */
export function parseTarget(url: string): Target {
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
  return { valid: true, origin: parsed.origin, path: parsed.pathname + parsed.search };
}
