// npm run simulate: a launcher and nothing more. What it launches is compiled already, which makes it run twice as fast.
await import("../.build/simulation/run.js");
