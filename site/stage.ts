/** The folder that VitePress builds: a copy of docs/ with the API reference of TypeDoc and the screenshots of the playground. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeApi } from './api.ts'
import { takeGallery } from './parts-gallery.ts'
import { portalProducts, takePortalScreenshots } from './portal-screenshots.ts'
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
  const signin = shots.find(({ name }) => name === 'signin')!
  for (const path of ['index.md', 'tasks/sign-in-with-google.md']) {
    const shown = join(folder, path)
    const pictures = Object.keys(sizes).map((size) => `![${signin.alt}, on a ${size}](/screenshots/${signin.name}-${size}.png)`)
    writeFileSync(shown, readFileSync(shown, 'utf8').replace('<!-- picture signin -->', pictures.join('\n')))
  }
  const parts = join(folder, 'parts.md')
  const pictures = await takeGallery(join(folder, 'public/screenshots'), chromium)
  writeFileSync(parts, readFileSync(parts, 'utf8').replace('<!-- gallery -->', pictures))
  const ofPortal = await takePortalScreenshots(join(folder, 'public/screenshots'), chromium)
  for (const [product, name] of Object.entries(portalProducts)) {
    const guide = join(folder, `tasks/connect-${product}.md`)
    const picture = `![Step 1 of the portal for ${name}: values with copy buttons](/screenshots/portal-${product}.png)`
    writeFileSync(guide, readFileSync(guide, 'utf8').replace(`<!-- portal ${product} -->`, picture))
  }
  return `${names} names of the API, ${taken.length + ofPortal.length} screenshots`
}

// Markdown: a heading for each page, then its picture in each size.
function gallery(): string {
  const picture = (name: string, alt: string, size: string): string => `![${alt}, on a ${size}](/screenshots/${name}-${size}.png)`
  return shots
    .map(({ name, alt }) => [`### ${alt}`, '', ...Object.keys(sizes).map((size) => picture(name, alt, size))].join('\n'))
    .join('\n\n')
}
