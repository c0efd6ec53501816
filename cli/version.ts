/** The version of the installed package. */
import { readFileSync } from 'node:fs'

/** As in package.json, which stands one folder above both the sources and the built file. */
export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return version
}
