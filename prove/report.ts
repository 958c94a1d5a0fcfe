import type { Plant } from "./plant.ts";
import { isFinished, type Result, type Results } from "./results.ts";

export const BEGIN = "<!-- prove: begin, written by npm run prove -- --write -->";
export const END = "<!-- prove: end -->";

/** The table and the score, as Markdown. */
export function describeResults(plants: readonly Plant[], results: Results): string {
  const all = plants.map((plant) => ({ plant, result: results.of(plant) }));
  const tried = all.filter(({ result }) => isBegun(result));
  const valid = tried.filter(({ result }) => !result.isInvalid);
  const caught = valid.filter(({ result }) => result.caught !== null);
  const finished = valid.filter(({ result }) => isFinished(result));
  const open = valid.length - finished.length;
  const score = valid.length === 0 ? 0 : (100 * caught.length) / valid.length;
  const rows = tried.map(({ plant, result }) => {
    const [stage, by] = outcomeOf(result);
    return `| \`${plant.name}\` | ${plant.breaks} | ${stage} | ${cellText(by)} | ${result.seconds.toFixed(0)} |`;
  });
  return [
    `${caught.length} of ${valid.length} that were tried are caught: **${score.toFixed(1)} %**. ${finished.length - caught.length} survived everything.` +
      (open === 0 ? "" : ` ${open} survived the stages so far and are not tried to the end.`) +
      (tried.length === plants.length ? "" : ` ${plants.length - tried.length} are not tried yet.`),
    "",
    "| Plant | Breaks | Caught by | Test or check | Seconds |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function outcomeOf(result: Result): readonly [stage: string, by: string] {
  if (result.isInvalid) return ["invalid", "does not compile"];
  if (result.caught !== null) return [result.caught.stage, result.caught.by];
  return isFinished(result) ? ["**nothing**", ""] : [`not by ${result.survived.join(", ")}`, ""];
}

function isBegun({ caught, isInvalid, survived }: Result): boolean {
  return caught !== null || isInvalid || survived.length > 0;
}

function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\\#", "#");
}

/** Throws where the page has no place for it. */
export function putInto(page: string, block: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`The page has no lines ${BEGIN} and ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n${block}\n${page.slice(end)}`;
}
