/** One configuration for all bindings. */
import type { AuthConfig } from 'authkernel'

/** A password provider and nothing else; reads no environment and logs nothing. */
export function config(more: AuthConfig = {}): AuthConfig {
  return {
    secret: 'a-secret-of-more-than-32-characters-for-tests',
    env: false,
    trustHost: true,
    logger: { error: () => {}, warn: () => {} },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { username: {}, password: { type: 'password' } },
        authorize: ({ username, password }) =>
          username === 'ada' && password === 'right' ? { id: 'ada', name: 'Ada', email: 'ada@example.com' } : null,
      },
    ],
    ...more,
  }
}
