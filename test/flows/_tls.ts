/** A server with TLS on loopback, and a Chromium that believes its certificate and binds sessions to keys in software. */
import { execFileSync } from 'node:child_process'
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'

export interface Secure {
  url: string
  /** SHA-256 of the public key of its certificate, as the browser is told to believe it. */
  pin: string
  close(): Promise<void>
}

/** `https://localhost`, by a certificate that openssl makes. */
export async function listenSecure(handler: RequestListener): Promise<Secure> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  const certificate = readFileSync(cert)
  const server = createServer({ key: readFileSync(key), cert: certificate }, handler)
  rmSync(folder, { recursive: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const spki = createPublicKey(new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'pem' })).export({
    type: 'spki',
    format: 'der',
  })
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    pin: createHash('sha256').update(spki).digest('base64'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export interface Profile {
  context: BrowserContext
  close(): Promise<void>
}

/** A browser with a profile of its own on disk: windows without one register no key. */
export async function profile(pin: string): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-profile-'))
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium',
    locale: 'en-US',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      `--ignore-certificate-errors-spki-list=${pin}`,
      // A virtual machine has no TPM.
      '--enable-features=DeviceBoundSessions,EnableBoundSessionCredentialsSoftwareKeysForManualTesting',
    ],
  })
  context.setDefaultTimeout(30_000)
  return {
    context,
    async close() {
      await context.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
