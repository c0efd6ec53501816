import type { ReactNode } from 'react'
import { auth } from '../auth'
import { leave } from './actions'

export const metadata = { title: 'Playground', icons: { icon: 'data:,' } }

export default async function Layout({ children }: { children: ReactNode }) {
  const session = await auth()
  return (
    <html lang="en">
      <head>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a href="/">Playground</a>
          <nav className="row" aria-label="Pages">
            <a href="/protected">Protected page</a>
            {session?.user && (
              <>
                <a href="/account">Your account</a>
                <span>
                  Signed in as <b id="who">{session.user.name ?? session.user.email}</b>
                </span>
                <form action={leave}>
                  <button>Sign out</button>
                </form>
              </>
            )}
          </nav>
        </header>
        <main>{children}</main>
      </body>
    </html>
  )
}
