module countersign.example

go 1.22
