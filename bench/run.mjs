// npm run bench: a launcher and nothing more. What it launches is compiled already (`npm run compile`).
await import("../.build/bench/run.js");
