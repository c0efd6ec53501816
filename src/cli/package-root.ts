/** Where this package lies: above `dist/` for users, above `src/` in the repository. */
import { existsSync } from 'node:fs'

/** The next folder upwards with a package.json. */
export function packageRoot(from: string | URL = import.meta.url): URL {
  const folder = new URL('./', from)
  return existsSync(new URL('package.json', folder)) ? folder : packageRoot(new URL('../', folder))
}
