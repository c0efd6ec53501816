/** The folder that VitePress builds: a copy of docs/ with the API reference of TypeDoc and the screenshots of the playground. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeApi } from './api.ts'
import { shots, sizes, takeScreenshots } from './screenshots.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const chromium = '/usr/bin/chromium'

/** Fills a folder and says what it holds. In CI a machine without Chromium is an error; elsewhere the pages then have no screenshots. */
export async function stage(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'docs'), folder, { recursive: true })
  const names = await writeApi(join(folder, 'api'))
  if (!existsSync(chromium) && !process.env.CI) return `${names} names of the API; no screenshots, since ${chromium} is not installed`
  const taken = await takeScreenshots(join(folder, 'public/screenshots'), chromium)
  const page = join(folder, 'playground.md')
  writeFileSync(page, readFileSync(page, 'utf8').replace('<!-- screenshots -->', gallery()))
  return `${names} names of the API, ${taken.length} screenshots`
}

// Markdown: a heading for each page, then its picture in each size.
function gallery(): string {
  const picture = (name: string, alt: string, size: string): string => `![${alt}, on a ${size}](/screenshots/${name}-${size}.png)`
  return shots
    .map(({ name, alt }) => [`### ${alt}`, '', ...Object.keys(sizes).map((size) => picture(name, alt, size))].join('\n'))
    .join('\n\n')
}
