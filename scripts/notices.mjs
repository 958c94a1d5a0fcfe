// THIRD-PARTY-NOTICES: the licences of all packages whose code the server's package holds, in the bundle, the dashboard and the
// documentation. A licence that is not permissive, or one without its text, is an error.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PERMISSIVE = new Set(
  "0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause ISC MIT MIT-0".split(" "),
);
/** Packages that say MIT without its text, and who holds the rights in them. */
const HOLDERS = new Map([
  ["abstract-logging", "James Sumners"],
  ["react-remove-scroll-bar", "Anton Korzunov"],
]);
const RULE = "=".repeat(80);
const HEAD = /^(\S+)@(\S+) \(([^()]+)\)$/gm;

/** The licence of an installed package, from its directory. */
export function readLicence(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const files = readdirSync(directory).sort();
  const own = files.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const text = own.map((file) => readFileSync(join(directory, file), "utf8").trim()).join("\n\n");
  const readme = files.find((file) => /^readme/i.test(file));
  return {
    name,
    version,
    identifier: license,
    text: text || (readme && licenceIn(readFileSync(join(directory, readme), "utf8"))),
  };
}

/** Some packages have it at the end of their readme. */
function licenceIn(readme) {
  const section = readme.split(/^#+ *licen[cs]e.*$/im)[1]?.trim();
  return section?.includes("Permission is hereby granted") ? section : undefined;
}

/** Equal texts are there once. */
export function writeNotices(licences) {
  const complaints = licences.flatMap((licence) => complaintsAbout(licence));
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
  const heads = new Map();
  for (const licence of [...licences].sort((a, b) => (headOf(a) < headOf(b) ? -1 : 1))) {
    const text = textOf(licence).replaceAll("\r\n", "\n");
    heads.set(text, (heads.get(text) ?? new Set()).add(headOf(licence)));
  }
  const parts = [...heads].map(([text, names]) => `${RULE}\n${[...names].join("\n")}\n${RULE}\n\n${text}\n`);
  return `This package holds code of the following packages, under their licences.\n\n${parts.join("\n")}`;
}

/** The packages that a text of `writeNotices` names. */
export function readNotices(text) {
  return Array.from(text.matchAll(HEAD), ([, name, version]) => ({ name, version }));
}

function headOf({ name, version, identifier }) {
  return `${name}@${version} (${identifier})`;
}

function textOf({ name, identifier, text }) {
  const holder = HOLDERS.get(name);
  return text || (identifier === "MIT" && holder !== undefined ? `Copyright (c) ${holder}\n\n${MIT}` : "");
}

function complaintsAbout(licence) {
  const complaints = [];
  if (!PERMISSIVE.has(licence.identifier))
    complaints.push(`${headOf(licence)} is not known to be permissive`);
  if (textOf(licence) === "") complaints.push(`${headOf(licence)} has no text of its licence`);
  return complaints;
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify,
merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished
to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
