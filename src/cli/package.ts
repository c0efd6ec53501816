/** This package: where it lies, and its version. */
import { existsSync, readFileSync } from 'node:fs'

/** The next folder upwards with a package.json: above `dist/` for users, above `src/` in the repository. */
export function packageRoot(from: string | URL = import.meta.url): URL {
  const folder = new URL('./', from)
  return existsSync(new URL('package.json', folder)) ? folder : packageRoot(new URL('../', folder))
}

/** The version of the installed package, as in package.json. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot()), 'utf8')) as { version: string }
  return version
}
