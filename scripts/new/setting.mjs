// The skeleton of a setting: a whole number, 0 if unset.

/** What is changed for a setting. */
export function newSetting(_name, { camel, snake, server }) {
  const variable = `BELLHOP_${snake.toUpperCase()}`;
  const test = `
  it("read ${variable}: 0 if unset, and refused if it is no integer from 0 to 1000", () => {
    assert.equal(readConfig({}).${camel}, 0);
    assert.equal(readConfig({ ${variable}: "7" }).${camel}, 7);
    for (const wrong of ["-1", "1001", "x"])
      assert.match(refusal({ ${variable}: wrong }), /^${variable} must be /);
  });
`;
  return {
    written: {},
    changed: {
      [`${server}/src/settings.ts`]: [
        [
          /(?<=\n)(?=} (?:as const )?satisfies Record<|} as const;)/,
          `  ${camel}: { name: "${variable}", fallback: "0", about: "TODO: what it does, with the unit, 0 to 1000." },\n`,
        ],
      ],
      [`${server}/src/config.ts`]: [
        [
          /(?= {2}readonly stopGraceSeconds: )/,
          `  /** TODO: what it does. */\n  readonly ${camel}: number;\n`,
        ],
        [/(?= {4}stopGraceSeconds: )/, `    ${camel}: integer(environment, SETTINGS.${camel}, 0, 1000),\n`],
      ],
      [`${server}/test/settings.test.ts`]: [[/(?=}\);\n$)/, test]],
    },
    next: `replace what says TODO, use config.${camel} in packages/server/src/server, then
  npm run generate
  npm run compile && node scripts/test.mjs packages/server/test/settings.test.ts`,
  };
}
