import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { isBadPort } from "./bad-ports.ts";
import { trimHostname } from "./host-name.ts";
import { type IpAddress, isInBlock, parseIpAddress } from "./ip-address.ts";

/** Addresses that the operator allows besides public ones. A null port means every port except the bad ones. */
export type AllowEntry =
  | {
      readonly kind: "block";
      readonly block: IpAddress;
      readonly prefixLength: number;
      readonly port: number | null;
    }
  /** `suffix` is `.example.com` for `*.example.com`: every name below it, at any depth, not itself. */
  | { readonly kind: "name"; readonly name: string; readonly port: number | null }
  | { readonly kind: "suffix"; readonly suffix: string; readonly port: number | null };

export type ParsedAllowEntry =
  | { readonly valid: true; readonly entry: AllowEntry }
  | { readonly valid: false; readonly message: string };

/** A host and perhaps a port; an IPv6 address needs brackets to have a port. */
const BRACKETED = /^\[([^\]]*)\](?::(\d+))?$/;
const PLAIN = /^([^:]*)(?::(\d+))?$/;

/** Characters that the URL parser would drop, decode, or read as the end of the host. */
const NOT_IN_NAME = /[\s:/\\?#@%[\]]/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/** Strict: a misread entry would silently allow an address. */
export function parseAllowEntry(text: string): ParsedAllowEntry {
  const bracketed = BRACKETED.exec(text);
  const [, host = "", portText] = bracketed ?? PLAIN.exec(text) ?? [text, text];
  if (bracketed !== null && !host.includes(":")) return malformed(text);
  const port = portText === undefined ? null : Number(portText);
  if (port !== null && (port < 1 || port > 65_535)) {
    return refuse(`"${text}" has a port that is not between 1 and 65535`);
  }
  if (host.includes("/")) return parseBlock(text, host, port);
  const address = parseIpAddress(host);
  if (address !== null) {
    const prefixLength = address.kind() === "ipv4" ? 32 : 128;
    return { valid: true, entry: { kind: "block", block: address, prefixLength, port } };
  }
  if (host.startsWith("*.")) {
    const name = readName(host.slice(2));
    return name === null
      ? malformed(text)
      : { valid: true, entry: { kind: "suffix", suffix: `.${name}`, port } };
  }
  const name = readName(host);
  return name === null ? malformed(text) : { valid: true, entry: { kind: "name", name, port } };
}

function parseBlock(text: string, host: string, port: number | null): ParsedAllowEntry {
  const [, base = "", prefix = ""] = /^([^/]*)\/(\d{1,3})$/.exec(host) ?? [];
  const block = parseIpAddress(base);
  if (block === null) return malformed(text);
  if (block.kind() === "ipv4" && base.includes(":")) {
    return refuse(`"${text}" is an IPv4 block in IPv6 spelling; write it as IPv4`);
  }
  const prefixLength = Number(prefix);
  const longest = block.kind() === "ipv4" ? 32 : 128;
  if (prefixLength > longest) return refuse(`"${text}" has a prefix longer than ${longest}`);
  const family = block.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  const network = family.networkAddressFromCIDR(`${block}/${prefixLength}`).toString();
  if (network !== block.toString()) {
    return refuse(
      `"${text}" is not the start of a block; write ${network}/${prefixLength} or ${block}/${longest}`,
    );
  }
  return { valid: true, entry: { kind: "block", block, prefixLength, port } };
}

/** The name as the URL parser will spell it in a call, or null. */
function readName(text: string): string | null {
  if (NOT_IN_NAME.test(text) || !URL.canParse(`http://${text}`)) return null;
  const { hostname } = new URL(`http://${text}`);
  // A number is an IP address in a spelling that nobody means.
  if (isIP(hostname) !== 0) return null;
  const name = trimHostname(hostname);
  return name.split(".").every((label) => LABEL.test(label)) ? name : null;
}

function malformed(text: string): ParsedAllowEntry {
  return refuse(
    `"${text}" is not an address (10.0.0.7), a block (10.0.0.0/8) or a host name (api.example.com, *.example.com), ` +
      "each with or without :port; IPv6 with a port takes brackets ([fd00::7]:8080)",
  );
}

function refuse(message: string): ParsedAllowEntry {
  return { valid: false, message };
}

export interface AllowList {
  /** A listed name is trusted with any addresses. */
  hasName(name: string, port: number): boolean;
  hasAddress(address: IpAddress, port: number): boolean;
  /** Whether any address at all is listed for the port. */
  hasAddressesFor(port: number): boolean;
}

/** Throws on a malformed entry: the settings were validated before. */
export function createAllowList(texts: readonly string[]): AllowList {
  const entries = texts.map((text) => {
    const parsed = parseAllowEntry(text);
    if (!parsed.valid) throw new Error(parsed.message);
    return parsed.entry;
  });
  const blocks = entries.filter((entry) => entry.kind === "block");
  return {
    hasName: (name, port) => entries.some((entry) => admits(entry, port) && isNamed(entry, name)),
    hasAddress: (address, port) =>
      blocks.some((entry) => admits(entry, port) && isInBlock(address, entry.block, entry.prefixLength)),
    hasAddressesFor: (port) => blocks.some((entry) => admits(entry, port)),
  };
}

/** Only an entry with an explicit bad port allows it. */
function admits({ port: listed }: AllowEntry, port: number): boolean {
  return listed === null ? !isBadPort(port) : listed === port;
}

function isNamed(entry: AllowEntry, name: string): boolean {
  switch (entry.kind) {
    case "block":
      return false;
    case "name":
      return entry.name === name;
    case "suffix":
      return name.endsWith(entry.suffix) && hasLabels(name.slice(0, -entry.suffix.length));
  }
}

/** What stands for the star: one label or more, none of them empty. */
function hasLabels(text: string): boolean {
  return text.split(".").every((label) => label !== "");
}
