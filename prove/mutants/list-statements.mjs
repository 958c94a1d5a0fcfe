// Prints the statements of a build of the server, each with its name: the build that the module named on the command line is of.
import { pathToFileURL } from "node:url";

const { listStatements } = await import(pathToFileURL(process.argv[2]).href);
const statements = await listStatements();
process.stdout.write(`${JSON.stringify(statements.map(({ name, text }) => [name, text]))}\n`);
