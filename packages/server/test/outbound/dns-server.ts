import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import { after } from "node:test";

/** What the server says of a name: its addresses with a TTL, that it does not exist, that it failed, or nothing at all. */
export type Zone = Record<string, { addresses: string[]; ttl: number } | "missing" | "failing" | "silent">;

const A = 1;
const AAAA = 28;
const CODES = { missing: 3, failing: 2 } as const;

/** A real DNS server on loopback. The zone may be changed while it runs; names that it does not hold are missing. */
export async function dnsServer(zone: Zone, silentFor: "none" | "AAAA" = "none") {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    asked.push(`${name} ${type === A ? "A" : "AAAA"}`);
    const known = zone[name] ?? "missing";
    if (known === "silent" || (type === AAAA && silentFor === "AAAA")) return;
    const code = typeof known === "string" ? CODES[known] : 0;
    const records =
      typeof known === "string"
        ? []
        : known.addresses
            .filter((each) => isIPv4(each) === (type === A))
            .map((each) => record(type, known.ttl, each));
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | code, 2);
    head.writeUInt16BE(records.length, 6);
    // No records about the server and none about the protocol, whatever the question had.
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  after(() => socket.close());
  return { asked, server: `127.0.0.1:${socket.address().port}` };
}

function readQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function record(type: number, ttl: number, address: string): Buffer {
  const data = isIPv4(address)
    ? Buffer.from(address.split(".").map(Number))
    : Buffer.from(address.split(":").flatMap((part) => [...Buffer.from(part.padStart(4, "0"), "hex")]));
  const head = Buffer.alloc(12);
  // The name is the question's.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
