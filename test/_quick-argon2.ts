/**
 * `@node-rs/argon2` at its lowest cost, under the name of the cost that `passwordsPlugin` asks for: a third of a fast run would be slow hashes. Tests of the
 * hashes themselves, of pages and of databases are in other projects of `vitest.config.ts`, with the package as it is.
 */
import { createRequire } from 'node:module'

type Argon2 = typeof import('@node-rs/argon2')
// Past the alias that leads here.
const library = createRequire(import.meta.url)('@node-rs/argon2') as Argon2

const costOfPlugin = 'm=19456,t=2,p=1'
const lowestCost = 'm=8,t=1,p=1'

export const hash: Argon2['hash'] = async (password, options) =>
  (await library.hash(password, { ...options, memoryCost: 8, timeCost: 1 })).replace(lowestCost, costOfPlugin)

export const verify: Argon2['verify'] = (stored, password, options) =>
  library.verify(typeof stored === 'string' ? stored.replace(costOfPlugin, lowestCost) : stored, password, options)
