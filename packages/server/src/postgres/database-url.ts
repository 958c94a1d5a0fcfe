/** A mistake in DATABASE_URL, reported without quoting it, because it contains a password. */
export class DatabaseUrlError extends Error {
  override readonly name = "DatabaseUrlError";
}

const PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?/;

/** Bellhop always uses the writable server. */
const SESSION_ATTRIBUTES = ["any", "read-write", "primary"];

/**
 * One address per server of the URL, as libpq reads it: `postgres://a:1,b:2/db`, or `?host=/one,/two`. The driver
 * itself supports only one.
 */
export function splitDatabaseUrl(url: string): readonly string[] {
  const [, scheme = "", user = "", authority = "", path = "", query = ""] = PARTS.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const attributes = parameters.get("target_session_attrs");
  if (attributes !== null && !SESSION_ATTRIBUTES.includes(attributes))
    throw new DatabaseUrlError(
      `target_session_attrs in DATABASE_URL must be one of ${SESSION_ATTRIBUTES.join(", ")}: Bellhop needs to write`,
    );
  const hosts = (parameters.get("host") ?? "").split(",");
  const servers = authority.split(",");
  const isInQuery = hosts.length > 1;
  if (!isInQuery && servers.length === 1 && attributes === null) return [url];
  parameters.delete("target_session_attrs");
  if (!isInQuery) {
    if (servers.length > 1 && servers.some((server) => server === "")) throw missingHost();
    return servers.map((server) => `${scheme}${user}${server}${path}${textOf(parameters)}`);
  }
  if (hosts.some((host) => host === "")) throw missingHost();
  const ports = portsOf(parameters.get("port"), hosts.length);
  return hosts.map((host, index) => {
    const port = ports[index] ?? "";
    parameters.set("host", host);
    if (port === "") parameters.delete("port");
    else parameters.set("port", port);
    return `${scheme}${user}${path === "" ? "/" : path}${textOf(parameters)}`;
  });
}

function missingHost(): DatabaseUrlError {
  return new DatabaseUrlError("DATABASE_URL names several servers, and one of them has no host");
}

/** One for all of them, or one for each. */
function portsOf(text: string | null, count: number): readonly string[] {
  const ports = (text ?? "").split(",");
  if (ports.length === 1) return Array.from({ length: count }, () => ports[0] ?? "");
  if (ports.length !== count)
    throw new DatabaseUrlError(
      "DATABASE_URL names several hosts: give one port for all of them, or one for each",
    );
  return ports;
}

/** As it can stand in a URL that is read without turning `+` into a space. */
function textOf(parameters: URLSearchParams): string {
  const text = parameters.toString().replaceAll("+", "%20");
  return text === "" ? "" : `?${text}`;
}
