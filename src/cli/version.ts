/** The version of the installed package. */
import { readFileSync } from 'node:fs'
import { packageRoot } from './package-root.ts'

/** As in package.json. */
export function version(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', packageRoot()), 'utf8')) as { version: string }
  return version
}
