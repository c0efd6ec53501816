/** What of this repository is measured here as one file, so that a run needs no build and measures what is in the working tree. */
import { mkdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundled } from '../authkernel.mjs'

const entry = `
export { createAuth, customFetch } from 'authkernel'
export { expressBinding } from 'authkernel/bindings/express'
export { sqlAdapter } from 'authkernel/plugins/sql'
export { unstorageAdapter } from 'authkernel/plugins/unstorage'
`

/** Answers the address of the file and how to remove it. */
export async function bundle() {
  // Beside the packages of this folder: kysely is theirs.
  const folder = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  const outfile = `${folder}authkernel-scale-${process.pid}.mjs`
  mkdirSync(folder, { recursive: true })
  return { url: await bundled(entry, outfile), remove: () => rmSync(outfile, { force: true }) }
}
