// What Countersign does, at a glance, beside the sign-in forms on a wide screen: a code on its way, and what came of it.

const STEPS = [
  { at: '0.0 s', what: 'Code sent by SMS' },
  { at: '1.8 s', what: 'Delivered to the phone' },
  { at: '9.4 s', what: 'Right code entered' },
]

export function Showcase() {
  return (
    <aside class="sign-in-showcase" aria-label="About Countersign">
      <div class="sign-in-scene" aria-hidden="true">
        <p class="sign-in-message">
          <strong>482 913</strong> is your Shop verification code.
          <span>Shop · now</span>
        </p>
        <ol class="sign-in-steps">
          {STEPS.map(({ at, what }) => (
            <li key={what}>
              <span>{what}</span>
              <span class="soft">{at}</span>
            </li>
          ))}
        </ol>
        <p class="sign-in-result">approved</p>
      </div>
      <p class="sign-in-claim">Prove that a person controls a phone number or an email address.</p>
      <p class="soft">Codes by SMS, WhatsApp, Telegram and email, on your own servers.</p>
    </aside>
  )
}
