/** Whether `dist/` is older than what it is made of. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

export function isStale(): boolean {
  const built = age(join(root, 'dist/index.mjs'))
  return ['src', 'plugins', 'bindings'].some((folder) => newest(join(root, folder)) > built)
}

/** Milliseconds since the epoch of the last change; 0: it is not there. */
export function age(path: string): number {
  return existsSync(path) ? statSync(path).mtimeMs : 0
}

function newest(folder: string): number {
  return Math.max(...readdirSync(folder, { recursive: true }).map((path) => age(join(folder, String(path)))))
}
