/** What a User-Agent says in two words. It is a claim of the browser: good for users to recognise their own device, and for nothing else. */
import type { Content, PageTools } from 'authkernel/kernel'

// The order matters: most browsers name several others.
const browsers: readonly [RegExp, string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/[\d.]{1,20}(?: [\w/.]{1,20}){0,3} Safari\//, 'Safari'],
]
const systems: readonly [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** The device in the language of the page: "Firefox on Linux". */
export function nameDevice(say: PageTools['say'], userAgent: string | undefined): Content {
  const { browser, system } = deviceOf(userAgent)
  if (browser && system) return say('account.session.device', { browser, system })
  return browser ?? system ?? say('account.session.unknown')
}

/** Undefined for a browser or system that is not in the tables. */
export function deviceOf(userAgent: string | undefined): { browser: string | undefined; system: string | undefined } {
  const find = (table: typeof browsers): string | undefined => table.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  return { browser: find(browsers), system: find(systems) }
}
