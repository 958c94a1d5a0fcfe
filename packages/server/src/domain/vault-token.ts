/** A stored third-party credential without its value, which stays in the vault. */
export interface VaultToken {
  /** `tok_…`, as headers refer to it. */
  readonly id: string;
  readonly name: string;
  /** Null if it may be sent to any host. */
  readonly allowedHosts: readonly string[] | null;
  readonly createdAt: Date;
  /** Null if no use is known. */
  readonly lastUsedAt: Date | null;
}

export interface RevokedToken {
  readonly id: string;
  readonly name: string;
  readonly revokedAt: Date;
}

/** The number of open tasks that name a token. */
export interface TokenTasks {
  readonly count: number;
  /** More open tasks exist than were scanned. */
  readonly isCapped: boolean;
}

/** A header of a call whose value is the id of a vault token. */
export interface VaultReference {
  readonly header: string;
  readonly tokenId: string;
}

/** Per task: each token is decrypted for every call and searched for in every answer. */
export const MOST_REFERENCES = 8;

const REFERENCE_PREFIX = "tok_";

/** The headers whose value is replaced when the call is made. */
export function vaultReferences(headers: Readonly<Record<string, string>>): VaultReference[] {
  return Object.entries(headers)
    .filter(([, value]) => value.startsWith(REFERENCE_PREFIX))
    .map(([header, tokenId]) => ({ header, tokenId }));
}

/** A possible token id inside other text. */
const INSIDE = /tok_[0-9a-z]{26}/g;

/**
 * Possible token ids in values that are not references: `Bearer tok_…`. Such a value is sent unchanged, which can only
 * be intended if the id is not one of the team's.
 */
export function vaultMentions(headers: Readonly<Record<string, string>>): VaultReference[] {
  const mentions: VaultReference[] = [];
  for (const header in headers) {
    const value = headers[header] ?? "";
    if (value.startsWith(REFERENCE_PREFIX) || !value.includes(REFERENCE_PREFIX)) continue;
    for (const [tokenId] of value.matchAll(INSIDE)) mentions.push({ header, tokenId });
  }
  return mentions;
}

/** `host`, `host:port`, `*.host`, `*.host:port`; the host a name, an IPv4 address or an IPv6 address in brackets. */
const ALLOWED_HOST = /^(\*\.)?([^\s/\\?#@:[\]*%]+|\[[0-9a-fA-F:.]+\])(?::([1-9][0-9]{0,4}))?$/;
/** The parsed form. The URL parser also accepts characters that no resolver does, such as a comma. */
const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
/** 253 of a name, two of the wildcard, six of the port. */
const LONGEST_ALLOWED_HOST = 261;

/** An entry of `allowedHosts` as in parsed URLs (lower case, punycode, normalised IP address), or null if it is invalid. */
export function parseAllowedHost(text: string): string | null {
  const [, wildcard = "", host = "", port] =
    (text.length <= LONGEST_ALLOWED_HOST && ALLOWED_HOST.exec(text)) || [];
  if (host === "" || Number(port ?? 1) > 65_535 || !URL.canParse(`http://${host}/`)) return null;
  const name = hostOf(new URL(`http://${host}/`));
  if (isAddress(name) ? wildcard !== "" : !HOST_NAME.test(name)) return null;
  return wildcard + name + (port === undefined ? "" : `:${port}`);
}

/**
 * Whether a token may be sent there. An entry without a port matches every port; `*.example.com` matches every name
 * below example.com, but not example.com.
 */
export function mayBeSentTo(allowedHosts: readonly string[] | null, url: string): boolean {
  if (allowedHosts === null) return true;
  if (!URL.canParse(url)) return false;
  const target = new URL(url);
  const host = hostOf(target);
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  return allowedHosts.some((allowed) => {
    const [, wildcard, name = "", only] = ALLOWED_HOST.exec(allowed) ?? [];
    if (only !== undefined && only !== port) return false;
    return wildcard === undefined ? host === name : !isAddress(host) && host.endsWith(`.${name}`);
  });
}

/** `example.com.` is `example.com`. */
function hostOf(url: URL): string {
  return url.hostname.replace(/\.+$/, "");
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[0-9]+(?:\.[0-9]+){3}$/.test(host);
}
