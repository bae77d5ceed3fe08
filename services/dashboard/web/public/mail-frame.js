// Shows the HTML that the page around it posts, in a frame that may do nothing: no script, no form, no address to go to. A mail needs styles in
// its tags, which the policy of the dashboard forbids, and a frame has the policy of the page that wrote it: so it is written here.

// Not even our own scripts are fetched for it. A link that would open a window does nothing here; another one would put an error in the place
// of the mail.
const BEFORE_MAIL =
  '<!doctype html><meta http-equiv="Content-Security-Policy" content="script-src \'none\'"><base target="_blank">'

addEventListener('message', ({ source, data }) => {
  if (source !== parent) return
  const mail = document.createElement('iframe')
  mail.setAttribute('sandbox', '')
  mail.title = 'Mail'
  mail.srcdoc = `${BEFORE_MAIL}${data}`
  document.body.replaceChildren(mail)
})
