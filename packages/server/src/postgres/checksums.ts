// Written by scripts/postgres-checksums.mjs: what the binaries of PostgreSQL are that this version was tested with.
import type { Checksums } from "./checksum.ts";

export const CHECKSUMS: Readonly<Record<string, Checksums>> = {
  "darwin-arm64": {
    version: "18.4.0-beta.17",
    tree: "f2ff43313b0570c8578c9bd6fb24b367bc6dc5cb226cc7ecc601a37b93ad0181",
    programs: {
      initdb: "b81069a19bcec5d2dd263f5c9bce2ce0b5075ae0f9b8a5c81b79f34bef503c39",
      pg_ctl: "2c37317f9f606d9716e493d6765ff14f84d8df9b8c07eaa722431de16446f071",
      postgres: "515d8e4c690ecd6ae86074eedd5d6d0ed50df434b3743274085b9692f1e923f9",
    },
  },
  "darwin-x64": {
    version: "18.4.0-beta.17",
    tree: "f2ff43313b0570c8578c9bd6fb24b367bc6dc5cb226cc7ecc601a37b93ad0181",
    programs: {
      initdb: "b81069a19bcec5d2dd263f5c9bce2ce0b5075ae0f9b8a5c81b79f34bef503c39",
      pg_ctl: "2c37317f9f606d9716e493d6765ff14f84d8df9b8c07eaa722431de16446f071",
      postgres: "515d8e4c690ecd6ae86074eedd5d6d0ed50df434b3743274085b9692f1e923f9",
    },
  },
  "linux-arm64": {
    version: "18.4.0-beta.17",
    tree: "d1843284036e5c690c04dde7cd18c0e92a43a9e567a7eb28da8c0597e65f1468",
    programs: {
      initdb: "a1038e792dff9620898a99ca4957bffa5a0d3b0566c2944cdb5cafcdad80df64",
      pg_ctl: "286ecc6cfd0b36baac899e5efa260ed46221e5cb57014291d64b51fea48d178e",
      postgres: "89fe0775643a67b2f5dd7b568e2afc29c172d1b4956038d6f1e185070f9ac51f",
    },
  },
  "linux-x64": {
    version: "18.4.0-beta.17",
    tree: "1a2bcedd0d284bcf2dd9c4940503569a57a995529b8a301a1be8536ce7965314",
    programs: {
      initdb: "515186eed81a1f2741bdcbfeb080af093a59a27fb2896237b04dd6c48bae349d",
      pg_ctl: "6beab6014ea28dcc78b8c6a43ec9e3e20536e13a175d75151107410ac866c481",
      postgres: "de0a4a7646c51f032e0088ae6fe9d0833fa280b78d4455681574a32937b32838",
    },
  },
};
