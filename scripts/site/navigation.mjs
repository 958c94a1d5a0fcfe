// The documentation by what people want to do. A page that is not listed here is under "More".
export const NAVIGATION = [
  [
    "Start",
    [
      "docs/README.md",
      "docs/why-bellhop.md",
      "docs/quickstart.md",
      "docs/recipes.md",
      "docs/from-bullmq.md",
      "docs/from-qstash.md",
      "examples/README.md",
    ],
  ],
  [
    "Have calls made",
    [
      "docs/tasks.md",
      "docs/retries.md",
      "docs/schedules.md",
      "docs/flow-control.md",
      "docs/deduplication.md",
      "docs/cancel-and-retry.md",
      "docs/bulk.md",
      "docs/events.md",
    ],
  ],
  ["Call third parties", ["docs/vault.md", "docs/providers-and-callbacks.md"]],
  [
    "Write code",
    [
      "docs/sdk.md",
      "docs/python.md",
      "docs/sandbox.md",
      "docs/api.md",
      "docs/errors.md",
      "docs/authentication.md",
    ],
  ],
  ["Use tools", ["docs/dashboard.md", "docs/cli.md", "docs/mcp.md"]],
  [
    "Run it",
    [
      "docs/production.md",
      "docs/upgrade.md",
      "docs/settings.md",
      "docs/metrics.md",
      "docs/several-nodes.md",
      "docs/beyond-one-database.md",
      "docs/postgresql-updates.md",
      "docs/performance.md",
      "SECURITY.md",
    ],
  ],
  [
    "Understand it",
    [
      "docs/guarantees.md",
      "docs/architecture.md",
      "docs/glossary.md",
      "docs/decisions/index.md",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
    ],
  ],
];
