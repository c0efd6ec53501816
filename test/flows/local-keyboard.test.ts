/** With the keyboard alone, at 320 pixels, with and without JavaScript: a user who lost the phone, and a user with a new address. */
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MailMessage } from 'authkernel/kernel'
import { totpAt } from '../_totp.ts'
import { localSite, look } from './_local-site.ts'
import { launch } from './_chromium.ts'
import { openWindow } from './_pages.ts'

const mails: MailMessage[] = []
let browser: Browser
let site: { url: string; close(): Promise<void> }

beforeAll(async () => {
  browser = await launch()
  site = await localSite(mails)
})
afterAll(async () => {
  await browser.close()
  await site.close()
})

describe.each([true, false])('320 pixels, JavaScript: %s, keyboard only', (javaScriptEnabled) => {
  const open = async (address: string) => {
    const { context, page, complaints } = await openWindow(browser, { javaScriptEnabled, viewport: { width: 320, height: 900 } })
    const see = (name: string) => look(page, `keyboard-${name}`, javaScriptEnabled)
    return { context, page, complaints, see, ...hands(page, address) }
  }

  it('a user who lost the phone comes back by a backup code and sets up a new one', { timeout: 60_000 }, async () => {
    const person = `lost${javaScriptEnabled}@example.com`
    const { context, page, see, reach, enter, press, signIn } = await open(person)
    /** Opens the field for backup codes, which has letters on the keyboard of a phone. */
    const enterBackup = async (code: string) => {
      await reach(page.locator('summary', { hasText: 'Without your phone' }))
      await page.keyboard.press('Enter')
      expect(await page.getByLabel('Backup code').getAttribute('inputmode')).toBeNull()
      await see('backup')
      await enter('code', code)
    }
    const enrol = async (): Promise<string[]> => {
      await page.goto(`${site.url}/auth/two-factor/setup`)
      await see('setup')
      await press(/authenticator app/i)
      const secret = (await page.locator('code').first().textContent())!.replaceAll(' ', '')
      await see('app')
      await enter('code', totpAt(secret, Date.now()))
      await page.locator('li code').first().waitFor()
      await see('codes')
      return page.locator('li code').allTextContents()
    }
    await signIn()
    await page.waitForURL(`${site.url}/home`)
    const codes = await enrol()
    expect(codes).toHaveLength(10)
    await context.clearCookies()
    // The phone is gone.
    await signIn()
    await page.waitForURL('**/auth/two-factor?*')
    await see('question')
    await enterBackup('AAAAA-AAAAA')
    await page.getByRole('alert').waitFor()
    await see('wrong')
    await enterBackup(codes[0]!)
    await page.waitForURL(`${site.url}/home`)
    expect(await page.textContent('#who')).toBe(person)
    await expect.poll(() => mails.some(({ to, text }) => to === person && text.includes('Codes left: 9'))).toBe(true)
    // The old app goes, a new one comes, and the code that was used opens nothing.
    await page.goto(`${site.url}/auth/two-factor/setup`)
    await press(/remove/i)
    await page.getByRole('button', { name: /remove/i }).waitFor({ state: 'detached' })
    const fresh = await enrol()
    expect([fresh.length, fresh.some((code) => codes.includes(code))]).toEqual([10, false])
    await context.clearCookies()
    await signIn()
    await page.waitForURL('**/auth/two-factor?*')
    await enterBackup(codes[1]!)
    await page.getByRole('alert').waitFor()
    await enterBackup(fresh[0]!)
    await page.waitForURL(`${site.url}/home`)
    await context.close()
  })

  it('an address changes, and the former mailbox takes it back', { timeout: 60_000 }, async () => {
    const [former, later] = [`former${javaScriptEnabled}@example.com`, `later${javaScriptEnabled}@example.com`]
    const { context, page, see, reach, enter, press, signIn, complaints } = await open(former)
    const linkTo = (to: string, kind: 'confirm' | 'undo') =>
      mails.map((mail) => (mail.to === to ? new RegExp(`http\\S*${kind}\\?token=[\\w.-]+`).exec(mail.text)?.[0] : undefined)).find(Boolean)
    await signIn()
    await page.waitForURL(`${site.url}/home`)
    await page.goto(`${site.url}/auth/account`)
    await reach(page.locator('a[href$="/account/address"]'))
    await page.keyboard.press('Enter')
    await page.waitForURL('**/auth/account/address')
    await see('address')
    await enter('email', later)
    await page.waitForURL('**/auth/account/address/mailed')
    await see('address-mailed')
    await expect.poll(() => linkTo(later, 'confirm')).toBeTruthy()
    await page.goto(linkTo(later, 'confirm')!)
    await see('address-confirm')
    expect(await page.textContent('.who')).toBe(later)
    await press('Change my address')
    await page.waitForURL(/\/auth\/account\?done=/)
    await see('address-done')
    await page.goto(`${site.url}/home`)
    expect(await page.textContent('#who')).toBe(later)
    // The link in the notice needs no session.
    await expect.poll(() => linkTo(former, 'undo')).toBeTruthy()
    await context.clearCookies()
    await page.goto(linkTo(former, 'undo')!)
    await see('address-undo')
    await press('Take the change back')
    await page.locator('form').waitFor({ state: 'detached' })
    await see('address-undone')
    await signIn()
    await page.waitForURL(`${site.url}/home`)
    expect(await page.textContent('#who')).toBe(former)
    // Links count once.
    await page.goto(linkTo(former, 'undo')!)
    await page.getByRole('alert').waitFor()
    await see('address-used')
    expect(complaints.filter((text) => !/status of 4/.test(text))).toEqual([])
    await context.close()
  })
})

/** What a user does who has no mouse, and gets the mails of an address. */
function hands(page: Page, address: string) {
  /** Comes to it by the Tab key alone. */
  const reach = async (target: Locator) => {
    await target.waitFor()
    for (let tabs = 0; tabs < 60; tabs++) {
      if (await target.evaluate((one) => one === document.activeElement)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`The Tab key does not come to ${target}.`)
  }
  const enter = async (name: string, value: string) => {
    await reach(page.locator(`input[name=${name}]:visible`).last())
    await page.keyboard.type(value)
    await page.keyboard.press('Enter')
  }
  const press = async (name: string | RegExp) => {
    await reach(page.getByRole('button', { name }).first())
    await page.keyboard.press('Enter')
  }
  const signIn = async () => {
    await page.goto(`${site.url}/auth/signin?callbackUrl=/home`)
    await enter('identifier', address)
    await page.locator('.who').waitFor()
    const before = mails.length
    await press('Email me a code')
    await page.waitForURL('**/auth/codes')
    const mailed = () => mails.slice(before).map(({ to, text }) => (to === address ? /^\s*(\d{6})\s*$/m.exec(text)?.[1] : undefined))
    await expect.poll(() => mailed().some(Boolean)).toBe(true)
    await enter('code', mailed().find(Boolean)!)
  }
  return { reach, enter, press, signIn }
}
