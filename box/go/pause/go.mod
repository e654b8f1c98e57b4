module box.local/pause

go 1.26.0
