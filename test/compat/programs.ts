// What an app does with Twilio's libraries, after the sample that makes `client` and `service`. Each program checks what it gets, and ends
// with an error where that is not what Twilio answers.

export const NODE_PROGRAM = `
import assert from 'node:assert/strict'

const { TO: to, OTHER: other, COUNTERSIGN_URL, ADMIN_TOKEN } = process.env

async function codeFor(recipient) {
  const url = COUNTERSIGN_URL + '/admin/v1/sandbox/messages?recipient=' + encodeURIComponent(recipient)
  for (;;) {
    const messages = await (await fetch(url, { headers: { authorization: 'Bearer ' + ADMIN_TOKEN } })).json()
    if (messages.length > 0) return messages[0].code
  }
}
const refused = (work, status, code) =>
  assert.rejects(work, error => {
    assert.ok(error instanceof twilio.RestException, String(error))
    assert.deepEqual([error.status, error.code], [status, code])
    return true
  })

const created = await service.verifications.create({ to, channel: 'sms', locale: 'de' })
assert.equal(created.status, 'pending')
assert.equal(created.to, to)
assert.ok(created.dateCreated instanceof Date && !Number.isNaN(created.dateCreated.getTime()))
const code = await codeFor(to)
const again = await service.verifications.create({ to, channel: 'sms' })
assert.notEqual(again.sid, created.sid)
await refused(service.verifications.create({ to, channel: 'sms' }), 429, 60203)
await refused(service.verifications.create({ to: 'nobody', channel: 'sms' }), 400, 60200)
await refused(service.verifications.create({ to, channel: 'call' }), 400, 60200)

assert.equal((await service.verifications(created.sid).fetch()).sendCodeAttempts.length, 2)
assert.equal((await service.verifications(to).fetch()).sid, again.sid)
const wrong = await service.verificationChecks.create({ to, code: '0' + code })
assert.deepEqual([wrong.status, wrong.valid], ['pending', false])
const right = await service.verificationChecks.create({ verificationSid: again.sid, code })
assert.deepEqual([right.status, right.valid, right.sid], ['approved', true, again.sid])
assert.equal((await service.verifications(created.sid).fetch()).status, 'canceled')
await refused(service.verificationChecks.create({ to, code }), 404, 20404)

const second = await service.verifications.create({ to: other, channel: 'auto' })
assert.equal((await service.verifications(second.sid).update({ status: 'canceled' })).status, 'canceled')
await refused(service.verifications(second.sid).update({ status: 'approved' }), 400, 60200)
const stranger = twilio(client.accountSid, 'sk_test_wrong', { httpClient })
await refused(stranger.verify.v2.services(created.serviceSid).verifications(to).fetch(), 401, 20003)
console.log('twilio for Node.js: every answer was as from Twilio')
`

export const PYTHON_PROGRAM = `
import datetime, json, urllib.parse, urllib.request
from twilio.base.exceptions import TwilioRestException

to, other = os.environ["TO"], os.environ["OTHER"]

def code_for(recipient):
    url = os.environ["COUNTERSIGN_URL"] + "/admin/v1/sandbox/messages?recipient=" + urllib.parse.quote(recipient)
    request = urllib.request.Request(url, headers={"authorization": "Bearer " + os.environ["ADMIN_TOKEN"]})
    while True:
        messages = json.load(urllib.request.urlopen(request))
        if messages:
            return messages[0]["code"]

def refused(work, status, code):
    try:
        work()
    except TwilioRestException as error:
        assert (error.status, error.code) == (status, code), error
    else:
        raise AssertionError(f"not refused with {code}")

created = service.verifications.create(to=to, channel="sms", locale="de")
assert (created.status, created.to) == ("pending", to)
assert isinstance(created.date_created, datetime.datetime), created.date_created
code = code_for(to)
again = service.verifications.create(to=to, channel="sms")
assert again.sid != created.sid
refused(lambda: service.verifications.create(to=to, channel="sms"), 429, 60203)
refused(lambda: service.verifications.create(to="nobody", channel="sms"), 400, 60200)

assert len(service.verifications(created.sid).fetch().send_code_attempts) == 2
assert service.verifications(to).fetch().sid == again.sid
wrong = service.verification_checks.create(to=to, code="0" + code)
assert (wrong.status, wrong.valid) == ("pending", False)
right = service.verification_checks.create(verification_sid=again.sid, code=code)
assert (right.status, right.valid, right.sid) == ("approved", True, again.sid)
assert service.verifications(created.sid).fetch().status == "canceled"
refused(lambda: service.verification_checks.create(to=to, code=code), 404, 20404)

second = service.verifications.create(to=other, channel="auto")
assert service.verifications(second.sid).update(status="canceled").status == "canceled"
refused(lambda: service.verifications(second.sid).update(status="approved"), 400, 60200)
print("twilio for Python: every answer was as from Twilio")
`
