/** Pictures of the ready-made parts for the site: the parts of React over a real server, with the style sheet of the package, light and dark. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium, type Page } from 'playwright-core'
import { aliases } from '../scripts/aliases.ts'
import { type PartsSite, startPartsSite } from '../test/flows/_parts/site.ts'

interface Shot {
  name: string
  /** Name of the component. */
  part: string
  alt: string
  reach(page: Page, site: PartsSite): Promise<unknown>
}

const password = 'a walk in the rain with ducks'

const shots: readonly Shot[] = [
  {
    name: 'sign-in',
    part: 'SignIn',
    alt: 'one field for the email, and the other methods below',
    reach: (page, { url }) => page.goto(`${url}/sign-in`),
  },
  {
    name: 'sign-in-method',
    part: 'SignIn',
    alt: 'after the email: the password, and the methods that fit',
    async reach(page) {
      await page.getByLabel('Email', { exact: true }).fill('ada@example.com')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Email me a code' }).waitFor()
    },
  },
  {
    name: 'sign-up',
    part: 'SignUp',
    alt: 'a new account with name, email and password',
    reach: (page, { url }) => page.goto(`${url}/sign-up`),
  },
  { name: 'user-button', part: 'UserButton', alt: 'the open menu of the user', reach: openMenu },
  {
    name: 'account',
    part: 'AccountPage',
    alt: 'profile, email, password, sign-in methods and sessions',
    reach: (page, { url }) => openPart(page, `${url}/account`),
  },
  {
    name: 'organization',
    part: 'OrganizationPage',
    alt: 'the organization with its members, and the switcher above',
    reach: createOrganization,
  },
  { name: 'keys', part: 'ApiKeys', alt: 'the form of a new API key with scopes', reach: openKeys },
]
const schemes = ['light', 'dark'] as const

/** Writes `part-<name>-<scheme>.png` to a folder. Answers the gallery as Markdown. Rejects where Chromium is not installed. */
export async function takeGallery(folder: string, executablePath = '/usr/bin/chromium'): Promise<string> {
  const site = await startPartsSite(await bundleApp())
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
  mkdirSync(folder, { recursive: true })
  try {
    for (const colorScheme of schemes) {
      const context = await browser.newContext({
        locale: 'en-US',
        viewport: { width: 900, height: 640 },
        reducedMotion: 'reduce',
        colorScheme,
      })
      context.setDefaultTimeout(30_000)
      const page = await context.newPage()
      for (const { name, reach } of shots) {
        if (name === 'user-button') await register(page, site, `ada-${colorScheme}@example.com`)
        await reach(page, site)
        await page.waitForFunction(`!document.querySelector('[data-part][aria-busy=true]')`)
        await page.screenshot({ path: join(folder, `part-${name}-${colorScheme}.png`) })
      }
      await context.close()
    }
  } finally {
    await browser.close()
    await site.close()
  }
  const picture = ({ name, part, alt }: Shot): string =>
    [`#### ${part}: ${alt}`, '', ...schemes.map((scheme) => `![${part}, ${alt}, ${scheme}](/screenshots/part-${name}-${scheme}.png)`)].join(
      '\n',
    )
  return `## Gallery\n\n${shots.map(picture).join('\n\n')}\n`
}

async function register(page: Page, { url, mails }: PartsSite, email: string): Promise<void> {
  await page.goto(`${url}/sign-up`)
  await page.getByLabel('Name').fill('Ada Lovelace')
  await page.getByLabel('Email', { exact: true }).fill(email)
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password)
  const before = mails.delivered.length
  await page.getByRole('button', { name: 'Create account', exact: true }).click()
  while (mails.delivered.length === before) await page.waitForTimeout(50)
  await page.goto(mails.lastLink())
  await page.getByRole('button', { name: 'Activate my account' }).click()
  await page.waitForURL(`${url}/after`)
}

async function openPart(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.locator('section').first().waitFor()
}

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account of' }).click()
  await page.getByRole('link', { name: 'Account' }).waitFor()
}

async function createOrganization(page: Page, { url }: PartsSite): Promise<void> {
  await openPart(page, `${url}/organization`)
  await page.getByRole('button', { name: /^Organization/ }).click()
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByLabel('Name of the organization').fill('Analytical Engines')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Analytical Engines' }).waitFor()
}

async function openKeys(page: Page, { url }: PartsSite): Promise<void> {
  await openPart(page, `${url}/keys`)
  await page.getByRole('button', { name: 'Create API key' }).click()
  await page.getByLabel('Name of the key').fill('Deployment')
}

async function bundleApp(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../test/flows/_parts/react.ts', import.meta.url))],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    outdir: 'out',
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: Object.fromEntries(
      aliases.flatMap(({ find, replacement }) => {
        const name = /^\^(authkernel\/(?:client|parts|react))\$$/.exec(find.source.replaceAll('\\/', '/'))?.[1]
        return name === undefined ? [] : [[name, replacement] as const]
      }),
    ),
  })
  return outputFiles[0]?.text ?? ''
}
