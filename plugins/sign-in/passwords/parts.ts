/** What all routes of the plugin are given. */
import type { Hasher } from './hash.ts'
import type { Options } from './options.ts'

/** Made once per plugin. */
export interface Parts {
  options: Options
  hasher: Hasher
}
