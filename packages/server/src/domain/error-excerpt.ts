import { lookUp } from "./json/look-up.ts";

/** Long enough for a sentence that says what is wrong. */
const LONGEST = 200;
/** A longer answer is not read as JSON or HTML: its first characters tell as much, and this runs on the event loop. */
const LONGEST_READ = 16_384;

const EMPTY_JSON = /^(\{ ?\}|\[ ?\]|null|"")$/;

/** Where APIs put the sentence for people, the most common place first. */
const MESSAGE_PATHS = [
  "error.message",
  "message",
  "detail",
  "error",
  "detail.0.msg",
  "errors.0.message",
  "title",
];

/**
 * What a failing answer says, in one line: the message of a JSON error, the title of an HTML page, or the first characters.
 * Null where it says nothing. Secrets have to be wiped from the body before: a cut one would not be recognised.
 */
export function errorExcerpt(body: string): string | null {
  const start = body.length > LONGEST_READ ? body.slice(0, LONGEST_READ) : body;
  const text = (jsonMessage(body) ?? htmlText(start)).replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (text === "" || EMPTY_JSON.test(text)) return null;
  const characters = [...text.slice(0, 2 * LONGEST + 2)];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join("")}…`;
}

function jsonMessage(body: string): string | null {
  if (body.length > LONGEST_READ || !/^\s*\{/.test(body)) return null;
  const found = lookUp(body, MESSAGE_PATHS);
  if (found.kind !== "json") return null;
  for (const path of MESSAGE_PATHS) {
    const value = found.values.get(path);
    if (value?.type === "string" && value.text.trim() !== "") return value.text;
  }
  return null;
}

function htmlText(start: string): string {
  if (!/^\s*</.test(start)) return start;
  const title = /<title[^>]{0,100}>([^<]{1,400})/i.exec(start)?.[1];
  return title ?? start.replace(/<[^>]*>?/g, " ");
}
