#!/usr/bin/env node
import { requireNode } from "./version.ts";

requireNode();
await import("./server/start.ts");
