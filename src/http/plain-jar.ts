/** The cookies of a request whose credential is in a header: none but those that open nothing. */
import type { CookieOptions } from '../contract/data.ts'
import { CookieJar } from './cookies.ts'

/** Reads and writes the cookies of which `keeps` says yes; all others are not there, and stay as they are in the browser. */
export class PlainJar extends CookieJar {
  readonly #keeps: (name: string) => boolean

  constructor(header: string | null, keeps: (name: string) => boolean) {
    const kept = (header ?? '').split(/; */).filter((pair) => keeps(pair.slice(0, pair.indexOf('=')).trim()))
    super(kept.join('; '))
    this.#keeps = keeps
  }

  override set(name: string, value: string, options?: CookieOptions, when?: 'always'): void {
    if (this.#keeps(name)) super.set(name, value, options, when)
  }

  override delete(name: string, options?: CookieOptions): void {
    if (this.#keeps(name)) super.delete(name, options)
  }
}
