// Keeps the audit log and the mailbox in step with the server. Both pages work without it, too.
const log = document.querySelector('#log')
const source = new EventSource('/audit/stream')
addEventListener('pagehide', () => source.close())

source.addEventListener('message', ({ data }) => {
  const entry = JSON.parse(data)
  if (log) show(entry)
  else if (entry.event === 'mail') location.reload()
})

function show({ event, detail, at, bad }) {
  const line = document.querySelector('#line').content.cloneNode(true).firstElementChild
  line.classList.toggle('bad', bad)
  line.querySelector('.tag').textContent = event
  line.querySelector('div').textContent = detail
  line.querySelector('time').textContent = `${at.slice(11, 19)} UTC`
  document.querySelector('.empty')?.remove()
  log.prepend(line)
}
