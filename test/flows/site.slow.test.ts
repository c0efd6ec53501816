/** The documentation site as `npm run docs build` makes it: complete, with the API and screenshots, searchable offline, and accessible. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { close, listen } from '../../playground/_shared/listen.ts'
import { publicModules } from '../../site/api.ts'
import { readPages } from '../../site/pages.ts'
import { shots, sizes } from '../../site/screenshots.ts'
import { root } from '../_sources.ts'
import { launch, person } from './_chromium.ts'
import { buildSite, runScript, writeDocs } from './_site-build.ts'

// In CI what is not installed is a failure.
const there = existsSync(join(root, 'site/node_modules/typedoc')) || Boolean(process.env.CI)
const folder = mkdtempSync(join(tmpdir(), 'authkernel-site-'))
const drop = [folder]
afterAll(() => drop.forEach((path) => rmSync(path, { recursive: true, force: true })))

describe.skipIf(!there)('the site', () => {
  const out = join(folder, 'out')
  // Below the package of the site: its pages import Vue.
  const stage = join(root, `site/.vitepress/cache/stage-${process.pid}`)
  drop.push(stage)
  let server: Server | undefined
  let browser: Browser
  let url: string
  beforeAll(async () => {
    const { code, said } = await runScript(['scripts/dev.mjs', 'scripts/docs.ts', 'build'], {
      DOCS_STAGE: stage,
      DOCS_OUT: out,
    })
    expect(code, said).toBe(0)
    const old = writeDocs(drop, { 'index.md': '# Start of 0.1\n\n[Options](options.md)\n', 'options.md': '# Options of 0.1\n' })
    const earlier = await buildSite(old, join(out, 'v0.1'), { DOCS_BASE: '/v0.1/', DOCS_ROOT: '/', DOCS_VERSION: 'v0.1.3' })
    expect(earlier.code, earlier.said).toBe(0)
    const versions = [
      { name: 'v0.2.0', path: '/' },
      { name: 'v0.1.3', path: '/v0.1/' },
    ]
    writeFileSync(join(out, 'versions.json'), JSON.stringify(versions))
    server = createServer((req, res) => {
      const path = join(out, decodeURIComponent(new URL(req.url ?? '/', 'http://x').pathname).replace(/\/$/, '/index.html'))
      if (!existsSync(path)) return void res.writeHead(404).end()
      res.writeHead(200, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(readFileSync(path))
    })
    url = `http://localhost:${await listen(server, 0)}`
    browser = await launch()
  }, 900_000)
  afterAll(async () => {
    await browser?.close()
    if (server) await close(server)
  })

  it('has every page, and llms.txt names each of them', () => {
    const pages = readPages(join(root, 'docs'))
    expect(pages.length).toBeGreaterThan(100)
    const names = pages.map(({ path }) => path.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'))
    expect(names.filter((name) => !existsSync(join(out, name)))).toEqual([])
    const llms = readFileSync(join(out, 'llms.txt'), 'utf8')
    expect(names.filter((name) => name !== 'index.html' && !llms.includes(`](/${name})`))).toEqual([])
    expect(readFileSync(join(out, 'llms-full.txt'), 'utf8')).toContain('npx authkernel init')
  })

  it('has a page of the API for every public module, made from its types', () => {
    const modules = [...publicModules().keys()]
    expect(modules.length).toBeGreaterThan(50)
    const llms = readFileSync(join(out, 'llms.txt'), 'utf8')
    for (const name of modules) {
      expect(existsSync(join(out, `api/${name}.html`)), name).toBe(true)
      expect(llms).toContain(`](/api/${name}.html)`)
    }
    expect(readFileSync(join(out, 'api/plugins/limits.html'), 'utf8')).toContain('limitsPlugin')
  })

  it('shows the screenshots that this run took of the playground, on a desktop and on a phone', async () => {
    const { context, page } = await person(browser, { viewport: { width: 1280, height: 800 } })
    await page.goto(`${url}/playground.html`)
    const shown = await page.locator('img[src*="/screenshots/"]').evaluateAll((images) =>
      images.map((image) => {
        const { src, alt, naturalWidth, naturalHeight } = image as HTMLImageElement
        return { file: src.split('/').at(-1), described: alt.length > 10, size: [naturalWidth, naturalHeight] }
      }),
    )
    const expected = shots.flatMap(({ name }) =>
      Object.entries(sizes).map(([size, { width, height }]) => ({ file: `${name}-${size}.png`, described: true, size: [width, height] })),
    )
    expect(shown).toEqual(expected)
    // A blank page compresses to a few kilobytes.
    for (const { file } of expected) expect(readFileSync(join(out, 'screenshots', file)).length, file).toBeGreaterThan(8_000)
    await context.close()
  })

  it('a menu leads to the same page of another version, or to its start', async () => {
    const { context, page } = await person(browser, { viewport: { width: 1280, height: 800 } })
    const menu = page.locator('.VPNavBar').getByLabel('Version of the documentation')
    await page.goto(`${url}/options.html`)
    await menu.selectOption('v0.1.3')
    await page.getByRole('heading', { name: 'Options of 0.1' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/v0.1/options.html')
    await menu.selectOption('v0.2.0')
    await page.waitForURL(`${url}/options.html`)
    await page.goto(`${url}/hooks.html`)
    await menu.selectOption('v0.1.3')
    await page.getByRole('heading', { name: 'Start of 0.1' }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'mobile navigation' }).click()
    await page.locator('.VPNavScreen').getByLabel('Version of the documentation').selectOption('v0.2.0')
    await page.waitForURL(`${url}/`)
    await context.close()
  })

  it('comments for people who edit a page are not shown', () => {
    expect(readFileSync(join(root, 'docs/adapters.md'), 'utf8')).toContain('<!-- own: made by the tests -->')
    expect(readFileSync(join(out, 'adapters.html'), 'utf8')).not.toContain('made by the tests --')
  })

  it('has no link within the site that leads nowhere, headings included', () => {
    const html = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.html') && !/^404|^v0\.1\b/.test(name),
    )
    const ids = new Map(html.map((name) => [name, idsOf(readFileSync(join(out, name), 'utf8'))]))
    const broken = html.flatMap((name) =>
      [...readFileSync(join(out, name), 'utf8').matchAll(/ href="([^"]+)"/g)]
        .map(([, href]) => new URL(href!, `http://site/${name}`))
        .filter(({ protocol, host, pathname }) => protocol === 'http:' && host === 'site' && !pathname.startsWith('/assets/'))
        .filter(({ pathname, hash }) => {
          const target = pathname.slice(1).replace(/^$|\/$/, '$&index.html')
          const found = ids.get(extname(target) === '' ? `${target}.html` : target)
          return found ? hash !== '' && !found.has(decodeURIComponent(hash.slice(1))) : !existsSync(join(out, target))
        })
        .map(({ pathname, hash }) => `${name}: ${pathname}${hash}`),
    )
    expect(broken).toEqual([])
  })

  it('finds a page by its words, and asks no other host', async () => {
    const { context, page } = await person(browser, { viewport: { width: 1280, height: 800 } })
    const hosts = new Set<string>()
    context.on('request', (request) => hosts.add(new URL(request.url()).hostname))
    await page.goto(`${url}/options.html`)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('trusted devices backup codes')
    await page.locator('.VPLocalSearchBox').getByRole('option').first().click()
    await page.waitForURL(/two-factor|passwords|security/)
    expect([...hosts]).toEqual(['localhost'])
    await context.close()
  })

  it('knows synonyms, and shows guides before reference', async () => {
    const { context, page } = await person(browser, { viewport: { width: 1280, height: 800 } })
    const wanted = {
      '2fa': 'Two-factor authentication',
      mfa: 'Two-factor authentication',
      rbac: 'Role-based access control',
      'magic link': 'Magic link',
      sso: 'Single sign-on',
      otp: 'Email codes (OTP)',
      'remember me': 'How sessions work',
      'forgot password': 'Password sign-up',
      cors: 'SPA with a separate API',
    }
    for (const [query, title] of Object.entries(wanted)) {
      await page.goto(`${url}/options.html`)
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('searchbox').fill(query)
      expect(await page.locator('.VPLocalSearchBox').getByRole('option').first().innerText(), query).toContain(title)
    }
    await context.close()
  })

  it('a row of a table is a block on a phone, and its cells have the names of the columns', async () => {
    const { context, page } = await person(browser, { viewport: { width: 390, height: 800 } })
    await page.goto(`${url}/options.html`)
    const cell = page.locator('.vp-doc td[data-label]').nth(1)
    expect(await cell.evaluate((element) => [getComputedStyle(element).display, getComputedStyle(element, '::before').content])).toEqual([
      'block',
      expect.stringContaining('type, default'),
    ])
    const widths = await page
      .locator('.vp-doc table')
      .evaluateAll((tables) => tables.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
    expect(Math.max(...widths)).toBeLessThanOrEqual(0)
    await context.close()
  })

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('is accessible and fits: %s, %i pixels', async (colorScheme, width) => {
    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    const { context, page, complaints } = await person(browser, { colorScheme, viewport: { width, height: 800 } })
    for (const path of [
      '/',
      '/tasks/protect-a-route.html',
      '/comparison.html',
      '/plugins/two-factor.html',
      '/playground.html',
      '/security.html',
      '/api/',
      '/api/plugins/limits.html',
      '/reference/kernel.html',
    ]) {
      await page.goto(url + path)
      await page.evaluate(axe)
      const faults = await page.evaluate(async () => {
        const { violations } = await (
          globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } }
        ).axe.run()
        const wide = document.documentElement.scrollWidth > innerWidth ? ['wider than the screen'] : []
        return [...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`)), ...wide]
      })
      expect({ path, faults }).toEqual({ path, faults: [] })
    }
    expect(complaints).toEqual([])
    await context.close()
  })
})

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.png': 'image/png',
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!))
}
