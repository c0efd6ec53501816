/** The sources of this repository as one bundle, so that a run needs no build and measures what is in the working tree. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const { build } = createRequire(join(root, 'package.json'))('esbuild')

const entry = `
export { createAuth, customFetch } from 'authkernel'
export { decode, encode, getToken } from 'authkernel/jwt'
export { expressBinding } from 'authkernel/bindings/express'
`

/** Imported on demand by plugins. */
const external = [
  'nodemailer',
  '@simplewebauthn/server',
  'kysely',
  'unstorage',
  '@libsql/client',
  '@node-rs/argon2',
  '@node-saml/node-saml',
  '@node-saml/node-saml/lib/xml.js',
  'bcryptjs',
  'csv-parse',
  'stream-json',
]

/** Answers the address of the bundle and how to remove it. */
export async function bundle() {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-bench-'))
  const outfile = join(folder, 'authkernel.mjs')
  return { url: await bundled(entry, outfile), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Bundles what an entry names into a file; answers its address. */
export async function bundled(contents, outfile) {
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    external,
  })
  return pathToFileURL(outfile).href
}
