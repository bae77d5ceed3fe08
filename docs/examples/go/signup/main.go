// Sign-up with a verified phone number or email address, with net/http alone. The code is checked here, on the backend, with a server key.
//
//	cd docs/examples/go
//	COUNTERSIGN_URL=http://localhost:3000 COUNTERSIGN_KEY=sk_test_… PORT=8080 go run ./signup
package main

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

var client = &http.Client{Timeout: 15 * time.Second}

type verification struct{ otpID, recipient string }

// The verifications that are under way, by the visitor's cookie. Keep yours in your session store.
var started sync.Map

// An answer of Countersign: of a send, of a verify, or an error.
type answer struct {
	OtpID           string `json:"otp_id"`
	Channel         string `json:"channel"`
	MaskedRecipient string `json:"masked_recipient"`
	Matched         bool   `json:"matched"`
	AttemptsLeft    int    `json:"attempts_left"`
	Type            string `json:"type"`
	Detail          string `json:"detail"`
	RequestID       string `json:"request_id"`
}

// Calls Countersign. An error is answered to the visitor where the visitor can change something, and false is returned.
func call(w http.ResponseWriter, path string, body map[string]string) (found answer, ok bool) {
	sent, _ := json.Marshal(body)
	request, err := http.NewRequest("POST", os.Getenv("COUNTERSIGN_URL")+"/api/v1"+path, bytes.NewReader(sent))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("COUNTERSIGN_KEY"))
	request.Header.Set("Content-Type", "application/json")
	// With it a send can be repeated without a second message, for example after a 503.
	request.Header.Set("Idempotency-Key", random())
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		err = json.NewDecoder(response.Body).Decode(&found)
	}
	switch {
	case err == nil && response.StatusCode == 200:
		return found, true
	case err == nil && (response.StatusCode == 409 || response.StatusCode == 410 || response.StatusCode == 422 || response.StatusCode == 429):
		if wait := response.Header.Get("Retry-After"); wait != "" {
			w.Header().Set("Retry-After", wait)
		}
		reply(w, response.StatusCode, map[string]string{"detail": found.Detail})
	default:
		log.Print(found.Type, " ", found.Detail, " ", found.RequestID, " ", err)
		reply(w, 503, map[string]string{"detail": "Codes cannot be sent at the moment."})
	}
	return found, false
}

func signUp(w http.ResponseWriter, r *http.Request) {
	var body struct{ Recipient string }
	if !read(w, r, &body) {
		return
	}
	// Behind a proxy, take the address that the proxy tells you in a header of its own.
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	sent, ok := call(w, "/otp/send", map[string]string{"recipient": body.Recipient, "client_ip": address})
	if !ok {
		return
	}
	visitor := random()
	started.Store(visitor, verification{sent.OtpID, body.Recipient})
	http.SetCookie(w, &http.Cookie{Name: "visitor", Value: visitor, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil})
	reply(w, 200, map[string]string{"sent_to": sent.MaskedRecipient, "channel": sent.Channel})
}

func verify(w http.ResponseWriter, r *http.Request) {
	var body struct{ Code string }
	if !read(w, r, &body) {
		return
	}
	visitor := ""
	if cookie, err := r.Cookie("visitor"); err == nil {
		visitor = cookie.Value
	}
	found, ok := started.Load(visitor)
	if !ok {
		reply(w, 409, map[string]string{"detail": "Start again."})
		return
	}
	result, ok := call(w, "/otp/verify", map[string]string{"otp_id": found.(verification).otpID, "code": body.Code})
	if !ok {
		return
	}
	if !result.Matched {
		reply(w, 422, map[string]string{"detail": fmt.Sprintf("Wrong code. %d attempts are left.", result.AttemptsLeft)})
		return
	}
	// A verification is accepted once: of two calls with the right code, only one still finds it here.
	if _, ok := started.LoadAndDelete(visitor); !ok {
		reply(w, 409, map[string]string{"detail": "Start again."})
		return
	}
	reply(w, 200, map[string]string{"verified": found.(verification).recipient})
}

func read(w http.ResponseWriter, r *http.Request, body any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 10_000)).Decode(body)
	if err != nil {
		reply(w, 400, map[string]string{"detail": "The body must be JSON."})
	}
	return err == nil
}

func reply(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func random() string {
	bytes := make([]byte, 32)
	if _, err := rand.Read(bytes); err != nil {
		log.Fatal(err)
	}
	return hex.EncodeToString(bytes)
}

func main() {
	http.HandleFunc("/signup", signUp)
	http.HandleFunc("/signup/verify", verify)
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8080"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on port %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
