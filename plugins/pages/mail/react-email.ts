/** Draws an element of React as a mail, by the host's own `@react-email/render`. */
import { AuthError, type WrittenMail } from 'authkernel/kernel'

/** The two functions that are used of `@react-email/render`. */
interface ReactEmail {
  render(element: unknown, options?: { plainText?: boolean }): Promise<string>
}

/** HTML and text of an element. Throws where `@react-email/render` is not installed. */
export async function renderElement(element: unknown): Promise<Pick<WrittenMail, 'html' | 'text'>> {
  const { render } = await loadRender()
  const [html, text] = await Promise.all([render(element), render(element, { plainText: true })])
  return { html, text: `${text.trim()}\n` }
}

async function loadRender(): Promise<ReactEmail> {
  try {
    return (await import('@react-email/render')) as ReactEmail
  } catch (error) {
    throw new AuthError('Plugin "mail": `reactEmail` needs the package @react-email/render: npm install @react-email/render', {
      cause: { err: error as Error },
    })
  }
}
