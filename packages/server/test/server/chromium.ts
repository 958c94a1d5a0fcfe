import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { chromium } from "playwright-core";

const PLACES = [
  process.env.CHROMIUM_PATH ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Where the browser is that the tests look through; undefined: there is none, and nothing is downloaded. */
export const CHROMIUM = PLACES.find((path) => path !== "" && existsSync(path));

export const SKIPPED =
  CHROMIUM === undefined
    ? "no Chromium here: apt-get install chromium, or name one in CHROMIUM_PATH, to look at the dashboard"
    : false;

/** It reaches this machine and nothing else. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const EVERYTHING = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] };
const COLOURS = { type: "rule", values: ["color-contrast"] };

/** What keeps people out who cannot see or use the page like others: serious findings only, one line each. */
export async function findBarriers(
  page: Page,
  what: "everything" | "colours",
  within = "html",
): Promise<string[]> {
  // A colour that is on its way to another is neither; a dot that pulses never arrives.
  await page.evaluate(
    `Promise.allSettled(document.getAnimations()
       .filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity)
       .map(({ finished }) => finished)).then(() => null)`,
  );
  // Not as a script element: the policy of the page refuses it, as it should.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  const options = {
    resultTypes: ["violations"],
    runOnly: what === "colours" ? COLOURS : EVERYTHING,
    // The style sheets too would be parsed again, for rules that are not among these.
    preload: { assets: ["media"] },
  };
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run(${JSON.stringify(within)}, ${JSON.stringify(options)})`,
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes: [first, ...others] }) =>
        `${id}: ${first?.html} and ${others.length} more: ${first?.failureSummary}`,
    );
}

/** What stands out of a window of this width, or can be scrolled sideways in it; code may, and the line of states. */
export async function findWide(page: Page, width: number): Promise<string[]> {
  const before = page.viewportSize();
  await page.setViewportSize({ width, height: 844 });
  const found = await page.evaluate<string[]>(`[...document.querySelectorAll("body *")]
    .filter((element) => element.closest("pre, .skip, thead, .tabs") === null)
    .filter((element) => {
      const isOut = (box) => box.width > 0 && box.right > innerWidth + 1;
      const isCut = (box) => getComputedStyle(box).overflowX !== "visible" && !isOut(box.getBoundingClientRect());
      const scrolls = ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
      if (scrolls && element.scrollWidth > element.clientWidth + 1) return true;
      if (!isOut(element.getBoundingClientRect())) return false;
      for (let box = element.parentElement; box !== document.body; box = box.parentElement)
        if (isCut(box)) return false;
      return true;
    })
    .map((element) => element.outerHTML.slice(0, 120))
    .slice(0, 5)`);
  if (before !== null) await page.setViewportSize(before);
  return found;
}

/** Controls in sight that are too low for a finger. */
export function findSmall(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll("button, [role=tab], input, select")]
    .filter((element) => element.checkVisibility() && element.closest("thead, .hit") === null)
    .filter((element) => {
      const { width, height } = (element.closest("label") ?? element).getBoundingClientRect();
      return width > 1 && height < 44;
    })
    .map((element) => element.outerHTML.slice(0, 160))
    .slice(0, 5)`);
}
