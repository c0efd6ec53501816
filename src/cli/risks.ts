/** What works and is unsafe: each rule says what can happen and what to change. */
import { allowInsecureRequests, type App, type Provider, skipCSRFCheck } from 'authkernel/kernel'
import { adapterOf, isPerProcess } from 'authkernel/plugins/adapter'
import type { Finding } from './report.ts'

const day = 24 * 60 * 60
const local = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

/** Warnings about configuration, services and providers. */
export function findRisks(app: App, env: Record<string, string | undefined>): Finding[] {
  return [...configurationRisks(app, env), ...serviceRisks(app), ...providerRisks(app)].map(([code, message]) => ({
    level: 'warning',
    code,
    message,
  }))
}

type Risk = readonly [code: string, message: string]

function configurationRisks({ config, settings }: App, env: Record<string, string | undefined>): Risk[] {
  const risks: (Risk | false)[] = [
    config.trustHost === true &&
      !settings.origin &&
      !config.allowedHosts && [
        'trust-host',
        'The Host header decides where redirects lead, and mails with links are rejected. Set AUTH_URL (or `origin`), or list `allowedHosts`.',
      ],
    config.redirectProxyUrl !== undefined &&
      !config.allowedHosts && [
        'redirect-proxy',
        'The redirect proxy sends codes to every deployment that made its state: one that believes any Host header opens accounts. List `allowedHosts` here and there.',
      ],
    settings.origin.startsWith('http:') &&
      !local.test(settings.origin) && [
        'plain-http',
        `The origin ${settings.origin} is plain http: cookies and codes can be read on the way. Use https.`,
      ],
    config.useSecureCookies === false &&
      settings.origin.startsWith('https:') && [
        'insecure-cookies',
        '`useSecureCookies` is false on an https origin: cookies can be planted and read over http. Remove the option.',
      ],
    config.skipCSRFCheck === skipCSRFCheck && [
      'csrf',
      '`skipCSRFCheck` is on: other sites can sign users in and out. Remove it unless the host checks requests itself.',
    ],
    config.debug === true &&
      env['NODE_ENV'] === 'production' && ['debug', '`debug` is on in production: the log tells who signs in and when.'],
    config.throttle.mail === false && ['throttle-mail', '`throttle.mail` is off: any client can send any number of mails to any address.'],
    config.throttle.credentials === false && [
      'throttle-credentials',
      '`throttle.credentials` is off: passwords can be guessed without limit.',
    ],
    config.session.maxAge > 90 * day && [
      'session-age',
      `Sessions live ${Math.round(config.session.maxAge / day)} days without use. Lower \`session.maxAge\`, or set \`session.absoluteMaxAge\`.`,
    ],
    settings.secret.length > 3 && ['secrets', `${settings.secret.length} secrets are accepted. Remove those whose sessions have ended.`],
  ]
  return risks.filter((risk) => risk !== false)
}

function serviceRisks({ store, services: { once } }: App): Risk[] {
  const adapter = adapterOf(store)
  // Nothing can be done twice where no other user comes in.
  if (!store || !once || once.shared || adapter?.exclusive) return []
  if (adapter && isPerProcess(adapter, once)) {
    return [
      [
        'adapter-not-atomic',
        'The store has no atomic command: replay protection (links, codes, states) and unique addresses hold within one process only. Run one process, or use Redis or SQL.',
      ],
    ]
  }
  // A store that other processes see, while one-time use is counted in this one.
  return [
    [
      'once',
      'Replay protection (links, codes, states) is counted in this process alone. With several processes, give the adapter plugin a shared `once`.',
    ],
  ]
}

function providerRisks({ providers }: App): Risk[] {
  return [...providers.values()].flatMap((provider): Risk[] => {
    const { id } = provider
    // Options of all provider types, read by name.
    const options = provider as unknown as Record<PropertyKey, unknown>
    const checks = options['checks']
    return [
      ...(isDemo(provider)
        ? [
            [
              'demo-account',
              `Provider "${id}" is the demo account of \`authkernel init\`: username and password are public. Remove it when another sign-in method works.`,
            ] as const,
          ]
        : []),
      ...(options['allowDangerousEmailAccountLinking'] === true
        ? [
            [
              'email-linking',
              `Provider "${id}" may take over accounts by email address (\`allowDangerousEmailAccountLinking\`). Keep it only for providers that verify addresses.`,
            ] as const,
          ]
        : []),
      ...(options[allowInsecureRequests] === true
        ? [
            [
              'insecure-requests',
              `Provider "${id}" is asked over plain http (\`allowInsecureRequests\`): secrets and tokens can be read on the way.`,
            ] as const,
          ]
        : []),
      ...(Array.isArray(checks) && checks.includes('none')
        ? [
            [
              'checks',
              `Provider "${id}" has no checks: another site can sign its visitors in as another user. Remove \`checks: ['none']\`.`,
            ] as const,
          ]
        : []),
    ]
  })
}

/** The one of today, and the one that versions before 0.3 wrote into the module, which has no mark. */
function isDemo(provider: Provider): boolean {
  return Symbol.for('authkernel.demoAccount') in provider || (provider.id === 'demo' && provider.type === 'credentials')
}
