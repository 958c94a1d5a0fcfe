import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { readConfig } from "../../src/config.ts";
import { ResponseBody } from "../../src/outbound/response-body.ts";
import { until } from "../patience.ts";
import {
  assertResponse,
  call,
  connectionClosed,
  httpTarget,
  newCaller,
  PATIENT,
  tcpTarget,
} from "./target.ts";

const MEBIBYTE = 1_048_576;

async function answerWith(body: Buffer, coding: string | null, maxResponseBytes = MEBIBYTE) {
  const target = await httpTarget((_request, response) => {
    if (coding !== null) response.setHeader("content-encoding", coding);
    response.end(body);
  });
  const outcome = await newCaller({ maxResponseBytes }).call(call(target.url), PATIENT);
  assertResponse(outcome);
  return outcome;
}

describe("the size of an answer", () => {
  it("may be exactly the limit", async () => {
    const { body, truncated } = await answerWith(Buffer.from("12345"), null, 5);
    assert.equal(body, "12345");
    assert.equal(truncated, false);
  });

  it("is cut to the limit, and the status is kept", async () => {
    const { body, truncated, statusCode } = await answerWith(Buffer.from("123456"), null, 5);
    assert.equal(body, "12345");
    assert.equal(truncated, true);
    assert.equal(statusCode, 200);
  });

  it("is limited to 1 MiB by default", async () => {
    const target = await httpTarget((_request, response) => response.end(Buffer.alloc(MEBIBYTE + 1, "x")));
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.body.length, MEBIBYTE);
    assert.equal(outcome.truncated, true);
  });

  it("is limited for an endless body: its connection is destroyed, not drained", async () => {
    const target = await tcpTarget((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const pour = () => {
          while (!socket.destroyed && socket.write("x".repeat(16_384)));
        };
        socket.on("drain", pour);
        pour();
      });
    });

    const outcome = await newCaller().call(call(target.url), PATIENT);

    assertResponse(outcome);
    assert.equal(outcome.truncated, true);
    await connectionClosed(target);
    assert.ok((target.sockets[0]?.bytesWritten ?? 0) < 16 * MEBIBYTE);
  });

  it("causes no new connection after a cut", async () => {
    const target = await httpTarget((_request, response) => response.end("123456"));
    const outcome = await newCaller({ maxResponseBytes: 5 }).call(call(target.url), PATIENT);
    assertResponse(outcome);
    await connectionClosed(target);
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    assert.equal(target.sockets.length, 1);
  });

  it("is limited as text too: replacement characters count, and half a character is dropped", async () => {
    const noise = await answerWith(Buffer.alloc(9, 0xff), null, 9);
    assert.deepEqual([noise.body, noise.truncated], ["\uFFFD".repeat(3), true]);
    const halved = await answerWith(Buffer.from("123é"), null, 4);
    assert.deepEqual([halved.body, halved.truncated], ["123", true]);
  });

  it("is assembled from many chunks in order", async () => {
    const target = await httpTarget((_request, response) => {
      for (let index = 0; index < 1000; index += 1) response.write(`${index} grüße `);
      response.end();
    });
    const outcome = await newCaller().call(call(target.url), PATIENT);
    assertResponse(outcome);
    assert.equal(outcome.body, Array.from({ length: 1000 }, (_, index) => `${index} grüße `).join(""));
  });

  it("needs one buffer however small its chunks are", () => {
    const body = new ResponseBody(MEBIBYTE);
    const segment = Buffer.alloc(MEBIBYTE, "x");
    const before = process.memoryUsage();
    for (let index = 0; index < MEBIBYTE; index += 1)
      assert.ok(body.append(segment.subarray(index, index + 1)));
    const grown = process.memoryUsage().arrayBuffers - before.arrayBuffers;
    assert.ok(body.bytes().equals(segment));
    assert.equal(body.append(Buffer.from("y")), false);
    assert.ok(grown < 4 * MEBIBYTE, `${grown} bytes`);
  });
});

describe("a compressed answer", () => {
  const text = "grüße ".repeat(50);

  for (const [coding, encoded] of [
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
  ] as const) {
    it(`is decoded from ${coding} (${encoded.length} bytes)`, async () => {
      const { body, truncated } = await answerWith(encoded, coding);
      assert.equal(body, text);
      assert.equal(truncated, false);
    });
  }

  it("is cut to the limit of decoded bytes", async () => {
    const { body, truncated } = await answerWith(gzipSync("x".repeat(100_000)), "gzip", 1000);
    assert.equal(body, "x".repeat(1000));
    assert.equal(truncated, true);
  });

  it("may decode to exactly the limit", async () => {
    const { body, truncated } = await answerWith(gzipSync("x".repeat(1000)), "gzip", 1000);
    assert.equal(body.length, 1000);
    assert.equal(truncated, false);
  });

  it("is decoded as far as possible when it is cut before its end", async () => {
    const noise = Array.from({ length: 2000 }, (_, index) => (index * 7919) % 10_007).join(" ");
    for (const [coding, encoded] of [
      ["gzip", gzipSync(noise)],
      ["deflate", deflateSync(noise)],
      ["br", brotliCompressSync(noise)],
    ] as const) {
      const limit = encoded.length - 500;
      const { body, truncated } = await answerWith(encoded, coding, limit);
      assert.equal(truncated, true);
      assert.ok(body.length > 0 && noise.startsWith(body), coding);
    }
  });

  it("is kept as received when it cannot be decoded", async () => {
    for (const coding of ["gzip", "deflate", "br"]) {
      const { body, statusCode } = await answerWith(Buffer.from("\xffplain\0text", "latin1"), coding);
      assert.equal(body, "\uFFFDplain\uFFFDtext", coding);
      assert.equal(statusCode, 200);
    }
  });

  it("is kept as received when the coding is unknown", async () => {
    const { body } = await answerWith(Buffer.from("plain"), "zstd, gzip");
    assert.equal(body, "plain");
  });

  it("may be empty, and is then an empty text", async () => {
    const { body } = await answerWith(Buffer.alloc(0), "gzip");
    assert.equal(body, "");
  });

  for (const [coding, encode] of [
    ["gzip", gzipSync],
    ["br", quickBrotli],
  ] as const) {
    it(`needs less than 16 MiB of memory when it is a ${coding} bomb`, async () => {
      const bomb = encode(Buffer.alloc(64 * MEBIBYTE, "x"));
      await answerWith(gzipSync(Buffer.alloc(2 * MEBIBYTE)), "gzip");
      const before = process.resourceUsage().maxRSS;
      const outcome = await answerWith(bomb, coding);
      const grownKib = process.resourceUsage().maxRSS - before;
      assert.equal(outcome.truncated, true);
      assert.equal(outcome.body.length, MEBIBYTE);
      assert.ok(grownKib < 16 * 1024, `${grownKib} KiB`);
    });
  }
});

// Behind the bombs, which are measured by the most memory that the process ever had.
describe("an answer that is read whole", () => {
  const lookedUp = { kind: "not_json" } as const;
  const WHOLE = { ...PATIENT, readWhole: () => lookedUp };

  it("is read beyond the configured limit, up to 16 MiB", async () => {
    const target = await httpTarget((request, response) =>
      response.end(Buffer.alloc(16 * MEBIBYTE + (request.url === "/more" ? 1 : 0), "x")),
    );
    const caller = newCaller({ maxResponseBytes: 1000 });
    for (const [path, truncated] of [
      ["", false],
      ["/more", true],
    ] as const) {
      const outcome = await caller.call(call(target.url + path), WHOLE);
      assertResponse(outcome);
      assert.deepEqual([outcome.body.length, outcome.truncated], [16 * MEBIBYTE, truncated]);
    }
  });

  it("is decoded beyond the configured limit, up to 16 MiB", async () => {
    const target = await httpTarget((_request, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(Buffer.alloc(17 * MEBIBYTE, "x")));
    });
    const outcome = await newCaller({ maxResponseBytes: 1000 }).call(call(target.url), WHOLE);
    assertResponse(outcome);
    assert.deepEqual([outcome.body.length, outcome.truncated], [16 * MEBIBYTE, true]);
  });

  it("waits when it exceeds the limit while two others are being read", async () => {
    const open: (() => void)[] = [];
    let began = () => {};
    const target = await httpTarget((request, response) => {
      if (request.url === "/small") response.end("1");
      else if (request.url === "/third") response.end("1234567890");
      else {
        response.write("1234567890");
        open.push(() => response.end("!"));
        if (open.length === 2) began();
      }
    });
    const caller = newCaller({ maxResponseBytes: 5 });
    const allBegan = new Promise<void>((resolve) => {
      began = resolve;
    });
    const slow = Array.from({ length: 2 }, () => caller.call(call(target.url), WHOLE));
    await allBegan;
    // By their answers all that was sent before has been read.
    for (let turn = 0; turn < 5; turn += 1)
      assertResponse(await caller.call(call(`${target.url}/small`), WHOLE));

    let isRead = false;
    const third = caller.call(call(`${target.url}/third`), WHOLE).finally(() => {
      isRead = true;
    });
    for (let turn = 0; turn < 5; turn += 1)
      assertResponse(await caller.call(call(`${target.url}/small`), WHOLE));
    assert.equal(isRead, false);

    open[0]?.();
    const last = await third;
    assertResponse(last);
    assert.deepEqual([last.body, last.truncated], ["1234567890", false]);
    for (const end of open) end();
    for (const outcome of await Promise.all(slow)) {
      assertResponse(outcome);
      assert.equal(outcome.body, "1234567890!");
    }
  });

  const HEAD = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
  const ENDS = {
    "after its last byte": { text: `${HEAD}Content-Length: 10\r\n\r\n1234567890`, read: "1234567890" },
    "which is the end of its body": { text: `${HEAD}\r\n1234567890`, read: "1234567890" },
    "in the middle": { text: `${HEAD}Content-Length: 11\r\n\r\n1234567890`, read: null },
    "by a reset": { text: `${HEAD}Content-Length: 11\r\n\r\n1234567890`, read: null },
  };
  for (const [how, { text, read }] of Object.entries(ENDS)) {
    it(`may lose its connection while it waits, ${how}`, async () => {
      const open: (() => void)[] = [];
      const busy = await httpTarget((_request, response) => {
        response.write("1234567890");
        open.push(() => response.end("!"));
      });
      const caller = newCaller({ maxResponseBytes: 5 });
      const slow = Array.from({ length: 2 }, () => caller.call(call(busy.url), WHOLE));
      await until(() => open.length === 2);
      const answered: Socket[] = [];
      const target = await tcpTarget((socket) =>
        socket.once("data", () => socket.write(text, () => answered.push(socket))),
      );
      const small = await httpTarget((_request, response) => response.end("1"));
      // By their answers all that was sent before has been read.
      const readAll = async () => {
        for (let turn = 0; turn < 5; turn += 1) assertResponse(await caller.call(call(small.url), WHOLE));
      };
      const third = caller.call(call(target.url), WHOLE);
      await until(() => answered.length === 1);
      await readAll();
      if (how === "by a reset") answered[0]?.resetAndDestroy();
      else answered[0]?.end();
      await readAll();

      for (const end of open) end();
      for (const outcome of await Promise.all(slow)) assertResponse(outcome);
      const last = await third;
      if (read === null) assert.deepEqual([last.kind], ["failure"]);
      else {
        assertResponse(last);
        assert.deepEqual([last.body, last.truncated], [read, false]);
      }
    });
  }

  it("fails at its deadline while it waits, and frees its place", async () => {
    const target = await httpTarget((request, response) => {
      response.write("1234567890");
      if (request.url === "/end") response.end();
    });
    const caller = newCaller({ maxResponseBytes: 5 });
    const stuck = await Promise.all(
      Array.from({ length: 9 }, () => caller.call(call(target.url), { ...WHOLE, timeoutMs: 100 })),
    );
    assert.deepEqual([...new Set(stuck.map(({ kind }) => kind))], ["failure"]);
    for (let turn = 0; turn < 5; turn += 1)
      assertResponse(await caller.call(call(`${target.url}/end`), WHOLE));
  });
});

describe("BELLHOP_RESULT_LIMIT", () => {
  it("is 1 MiB by default, and may be 1 KiB to 16 MiB", () => {
    assert.equal(readConfig({}).resultLimitBytes, MEBIBYTE);
    for (const bytes of [1024, 16 * MEBIBYTE])
      assert.equal(readConfig({ BELLHOP_RESULT_LIMIT: `${bytes}` }).resultLimitBytes, bytes);
    for (const wrong of ["1023", "16777217", "1M"])
      assert.throws(
        () => readConfig({ BELLHOP_RESULT_LIMIT: wrong }),
        /BELLHOP_RESULT_LIMIT must be a whole number/,
      );
  });
});

/** The best compression takes seconds to make this bomb, and makes it no worse. */
function quickBrotli(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } });
}
