/** One style sheet for all playgrounds: frameworks with a folder of public files get a copy, which git does not keep. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folders: Record<string, string> = { next: 'public', nuxt: 'public', qwik: 'public', 'solid-start': 'public', sveltekit: 'static' }

/** Copies the style sheet to where the framework in `home` serves files from. Servers without such a folder read it themselves. */
export function copyStyle(home: string): void {
  const folder = folders[basename(home)]
  if (folder === undefined) return
  mkdirSync(join(home, folder), { recursive: true })
  copyFileSync(fileURLToPath(new URL('style.css', import.meta.url)), join(home, folder, 'style.css'))
}
