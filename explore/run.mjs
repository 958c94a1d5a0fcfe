// npm run explore: a launcher and nothing more. What it launches is compiled already, which makes it run twice as fast.
await import("../.build/explore/run.js");
