/** The proof of work in Chromium, under the policy of the page; and the way in without JavaScript. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAuth } from 'authkernel'
import { nodeBinding } from 'authkernel/bindings/node'
import { altcha, captchaPlugin } from 'authkernel/plugins/captcha'
import { memoryAdapter } from 'authkernel/plugins/memory'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launch } from './_chromium.ts'
import { mail, openWindow, password, secret } from './_pages.ts'

let browser: Browser
let url: string
let close: () => void

beforeAll(async () => {
  browser = await launch()
  const auth = createAuth({
    secret,
    trustHost: true,
    env: false,
    logger: { error() {} },
    adapter: memoryAdapter(),
    session: { strategy: 'jwt' },
    providers: [password, mail],
  })
    .use(nodeBinding())
    .use(captchaPlugin(altcha({ cost: 100 })))
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/auth')) return void auth.node.handler(request, response)
    response.end('home')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://localhost:${(server.address() as AddressInfo).port}`
  close = () => void server.close()
})
afterAll(async () => {
  await browser.close()
  close()
})

it('is solved while a user types, or when the button is pressed at once, and the policy stops nothing', async () => {
  const window = await openWindow(browser)
  await window.page.goto(`${url}/auth/signin`)
  await identify(window.page, 'ann')
  await window.page.locator('input[name=password]').fill('wrong')
  await window.page.locator('input[name=password]').press('Enter')
  await window.page.waitForURL(/error=CredentialsSignin/)
  // A fresh one for the next try, which no step waits for here.
  await window.page.evaluate(() => {
    const field = (name: string) => document.querySelector<HTMLInputElement>(`input[name=${name}]`)!
    field('username').value = 'ann'
    field('password').value = 'right'
    field('password').form!.requestSubmit()
  })
  await window.page.waitForURL(`${url}/`)
  expect(window.complaints).toEqual([])
  await window.context.close()
})

it('without JavaScript a password leads to the words that name the mailed link, and that link is sent', async () => {
  const window = await openWindow(browser, { javaScriptEnabled: false })
  await window.page.goto(`${url}/auth/signin`)
  await identify(window.page, 'ann')
  await window.page.locator('input[name=password]').fill('right')
  await window.page.locator('input[name=password]').press('Enter')
  await window.page.waitForURL(/error=CaptchaRequired/)
  await expect.poll(() => window.page.getByRole('alert').textContent()).toContain('ask for a link by email')
  await window.page.getByRole('link', { name: 'Change' }).click()
  await identify(window.page, 'ann@example.com')
  await window.page.getByRole('button', { name: /link/ }).click()
  await window.page.waitForURL(/verify-request/)
  await window.context.close()
})

/** The one field that the sign-in page asks for first. */
async function identify(page: Page, text: string): Promise<void> {
  await page.fill('#input-identifier-for-signin', text)
  await page.click('#submitButton')
  await page.locator('.who').waitFor()
}
